import { randomBytes } from 'node:crypto';
import type { Counters, DeliveryRecord, Timing } from './control-api.ts';
import type { Journal } from './journal.ts';
import { SENTRY_APP, TEAM } from './seed.ts';
import type { Switches } from './switches.ts';
import type { Ack, Envelope, Transport } from './transport.ts';

export type SlackEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** Slack's schedule: nearly at once, after a minute, after five. */
const RETRY_AFTER_MS = [500, 60_000, 300_000] as const;
const PENDING = 'pending_events';
const KEPT_RECORDS = 2000;

type MutableRecord = { -readonly [K in keyof DeliveryRecord]: DeliveryRecord[K] };

interface Pending {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly attempt: number;
  readonly reason: string;
}

interface EventParts {
  readonly journal: Journal;
  readonly transport: () => Transport;
  readonly timing: () => Timing;
  readonly switches: Switches;
  readonly now: () => number;
}

/**
 * Sends what happens to the app, over whichever transport is in use. Events are retried until acknowledged or
 * given up, and survive a restart of this server while they wait; interactions and commands are sent once.
 */
export class Events {
  readonly #parts: EventParts;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #records: MutableRecord[] = [];
  readonly #counts = { sent: 0, acked: 0, lost: 0, retried: 0 };
  #closed = false;

  constructor(parts: EventParts) {
    this.#parts = parts;
  }

  /** Hands an event to the app in the background. */
  emit(event: SlackEvent): void {
    const name = typeof event['subtype'] === 'string' ? `${event.type}.${event['subtype']}` : event.type;
    if (this.#parts.switches.takeLoss(event.type)) {
      this.#records.push({ kind: 'event', name, attempts: 0, state: 'lost' });
      this.#counts.lost += 1;
      return;
    }
    const payload = this.#envelopeOf(event);
    const copies = this.#parts.switches.takeDouble(event.type) ? 2 : 1;
    const pending: Pending = { payload, name, attempt: 0, reason: '' };
    this.#parts.journal.put(PENDING, String(payload['event_id']), pending);
    for (let copy = 0; copy < copies; copy += 1)
      void this.#attempt(pending, this.#record('event', name, payload));
  }

  /** Takes up the events a dead server left behind. */
  resume(): void {
    for (const pending of this.#parts.journal.values<Pending>(PENDING)) {
      this.#later(pending, this.#record('event', pending.name, pending.payload), 500);
    }
  }

  async interactive(payload: Readonly<Record<string, unknown>>, acceptsResponse: boolean): Promise<Ack> {
    return this.#once('interactive', String(payload['type']), payload, acceptsResponse);
  }

  async command(payload: Readonly<Record<string, unknown>>): Promise<Ack> {
    return this.#once('command', String(payload['command']), payload, true);
  }

  records(): readonly DeliveryRecord[] {
    return this.#records;
  }

  counts(): Counters['events'] {
    return { ...this.#counts };
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #once(
    kind: 'interactive' | 'command',
    name: string,
    payload: Readonly<Record<string, unknown>>,
    acceptsResponse: boolean,
  ): Promise<Ack> {
    const record = this.#record(kind, name, payload);
    record.attempts = 1;
    const ack = await this.#parts
      .transport()
      .send({ kind, payload, acceptsResponse, attempt: 0, retryReason: '' });
    record.state = ack.acked ? 'acked' : 'lost';
    return ack;
  }

  async #attempt(pending: Pending, record: MutableRecord): Promise<void> {
    this.#counts[pending.attempt === 0 ? 'sent' : 'retried'] += 1;
    record.attempts += 1;
    const envelope: Envelope = {
      kind: 'event',
      payload: pending.payload,
      acceptsResponse: false,
      attempt: pending.attempt,
      retryReason: pending.reason,
    };
    const ack = await this.#parts.transport().send(envelope);
    // A server that is closing keeps the event: the next one takes it up.
    if (this.#closed) return;
    const id = String(pending.payload['event_id']);
    const delay = RETRY_AFTER_MS[pending.attempt];
    if (ack.acked) {
      record.state = 'acked';
      this.#counts.acked += 1;
      this.#parts.journal.delete(PENDING, id);
    } else if (delay === undefined || ack.noRetry) {
      record.state = 'lost';
      this.#counts.lost += 1;
      this.#parts.journal.delete(PENDING, id);
    } else {
      const next = { ...pending, attempt: pending.attempt + 1, reason: ack.reason };
      this.#parts.journal.put(PENDING, id, next);
      this.#later(next, record, delay * this.#parts.timing().retryFactor);
    }
  }

  #later(pending: Pending, record: MutableRecord, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#attempt(pending, record);
    }, delayMs);
    this.#timers.add(timer);
  }

  #record(kind: DeliveryRecord['kind'], name: string, payload: Readonly<Record<string, unknown>>) {
    const eventId = payload['event_id'];
    const record: MutableRecord = {
      kind,
      name,
      attempts: 0,
      state: 'pending',
      ...(typeof eventId === 'string' ? { eventId } : {}),
    };
    this.#records.push(record);
    if (this.#records.length > KEPT_RECORDS) this.#records.shift();
    return record;
  }

  #envelopeOf(event: SlackEvent): Readonly<Record<string, unknown>> {
    return {
      token: SENTRY_APP.verificationToken,
      team_id: TEAM.id,
      context_team_id: TEAM.id,
      context_enterprise_id: null,
      api_app_id: SENTRY_APP.id,
      event,
      type: 'event_callback',
      event_id: `Ev${randomBytes(8).toString('hex').toUpperCase()}`,
      event_time: Math.floor(this.#parts.now() / 1000),
      authorizations: [
        {
          enterprise_id: null,
          team_id: TEAM.id,
          user_id: SENTRY_APP.botUserId,
          is_bot: true,
          is_enterprise_install: false,
        },
      ],
      is_ext_shared_channel: false,
      event_context: `4-${randomBytes(12).toString('hex')}`,
    };
  }
}
