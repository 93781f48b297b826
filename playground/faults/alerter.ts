import { z } from 'zod';
import { messageOf } from '../../src/core/errors.ts';
import type { Log } from '../../src/core/log.ts';
import { readStateFile, writeStateFile } from '../../src/infra/process/state-file.ts';
import { type RaisedAlert, slackMessage, webhookBody } from './alertmanager-payload.ts';
import type { Reading, ShopFault } from './fault.ts';

/** Where notifications go. */
export interface Receivers {
  readonly webhook: { readonly url: string; readonly secret: string | null } | null;
  /** A Slack incoming webhook. */
  readonly slackUrl: string | null;
}

const delivery = z.object({
  /** What the receiver has accepted last. */
  accepted: z.enum(['nothing', 'firing', 'resolved']),
  at: z.number(),
});
const raised = z.object({
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  startsAt: z.string(),
  endsAt: z.string().nullable(),
  webhook: delivery,
  slack: delivery,
});
type Raised = z.infer<typeof raised>;
type ReceiverName = 'webhook' | 'slack';

/**
 * Alertmanager's repeat_interval, whose default of 4 h is too long for a playground. In the channel it is longer: a repeat there
 * pushes Sentry's own message off the screen, and tells nothing new.
 */
const repeatMs: Readonly<Record<ReceiverName, number>> = { webhook: 120_000, slack: 1_800_000 };
/** It must be gone for so long before it is called resolved: one quiet look is no recovery. */
const goneForMs = 2_500;
const retryMs: readonly number[] = [500, 1_000, 2_000, 5_000];
const sendTimeoutMs = 10_000;

/**
 * Prometheus and Alertmanager in one: an alert fires when its condition has held for its time, is repeated, and is
 * resolved when it is really gone. What fires is on disk, so that a restart sends the resolution that is owed.
 */
export class Alerter {
  readonly #path: string;
  readonly #receivers: Receivers;
  readonly #log: Log;
  readonly #alerts: Map<string, Raised>;
  readonly #heldSince = new Map<string, number>();
  readonly #goneSince = new Map<string, number>();
  readonly #sending = new Set<string>();
  readonly #retryAt = new Map<string, { readonly at: number; readonly attempts: number }>();

  constructor(path: string, receivers: Receivers, log: Log) {
    this.#path = path;
    this.#receivers = receivers;
    this.#log = log;
    const text = readStateFile(path);
    this.#alerts = new Map(
      text === undefined ? [] : Object.entries(z.record(z.string(), raised).parse(JSON.parse(text))),
    );
  }

  isFiring(id: string): boolean {
    return this.#alerts.get(id)?.endsAt === null;
  }

  /** One evaluation; `now` in ms since the epoch. */
  evaluate(fault: ShopFault, reading: Reading, now: number): void {
    const { id, rule } = fault;
    if (reading.holds) this.#goneSince.delete(id);
    else this.#heldSince.delete(id);
    const alert = this.#alerts.get(id);
    if (reading.holds && (alert === undefined || alert.endsAt !== null)) {
      const since = this.#heldSince.get(id) ?? now;
      this.#heldSince.set(id, since);
      // A resolution that is still owed goes out first: receivers see one after the other.
      if (
        alert !== undefined ||
        now - since < rule.forMs ||
        rule.inhibitedBy.some((other) => this.isFiring(other))
      )
        return;
      this.#put(id, this.#raise(fault, reading, now));
    } else if (!reading.holds && alert?.endsAt === null) {
      const since = this.#goneSince.get(id) ?? now;
      this.#goneSince.set(id, since);
      if (now - since >= goneForMs) this.#put(id, { ...alert, endsAt: new Date(now).toISOString() });
    }
  }

  /** Sends what is due. Never throws: what fails is tried again. */
  deliver(now: number): void {
    for (const [id, alert] of this.#alerts) {
      if (this.#receivers.webhook !== null) this.#send(id, 'webhook', alert, now);
      if (this.#receivers.slackUrl !== null) this.#send(id, 'slack', alert, now);
      this.#forgetWhenDone(id);
    }
  }

  #raise({ rule }: ShopFault, reading: Reading, now: number): Raised {
    const none = { accepted: 'nothing', at: 0 } as const;
    return {
      labels: { alertname: rule.alertname, ...rule.labels, severity: rule.severity },
      annotations: {
        summary: rule.summary,
        description: `${rule.description} Now: ${reading.says}.`,
        runbook_url: `https://runbooks.shop.example/${rule.alertname}`,
      },
      startsAt: new Date(now).toISOString(),
      endsAt: null,
      webhook: none,
      slack: none,
    };
  }

  #send(id: string, receiver: ReceiverName, alert: Raised, now: number): void {
    const status = alert.endsAt === null ? 'firing' : 'resolved';
    const { accepted, at } = alert[receiver];
    // As Alertmanager: who was never told that it fires is not told that it is over.
    const due =
      status === 'firing' ? accepted === 'nothing' || now - at >= repeatMs[receiver] : accepted === 'firing';
    const key = `${id}/${receiver}`;
    if (!due || this.#sending.has(key) || now < (this.#retryAt.get(key)?.at ?? 0)) return;
    this.#sending.add(key);
    void this.#post(receiver, alert)
      .then(() => {
        this.#retryAt.delete(key);
        const current = this.#alerts.get(id);
        if (current?.startsAt === alert.startsAt)
          this.#put(id, { ...current, [receiver]: { accepted: status, at: now } });
      })
      .catch((error: unknown) => {
        const attempts = (this.#retryAt.get(key)?.attempts ?? 0) + 1;
        const wait = retryMs[Math.min(attempts, retryMs.length) - 1] ?? 5_000;
        this.#retryAt.set(key, { at: Date.now() + wait, attempts });
        this.#log.debug(
          { receiver, id, attempts, error: messageOf(error) },
          'notification not accepted, trying again',
        );
      })
      .finally(() => this.#sending.delete(key));
  }

  async #post(receiver: ReceiverName, alert: RaisedAlert): Promise<void> {
    const { webhook, slackUrl } = this.#receivers;
    const url = receiver === 'webhook' ? webhook?.url : slackUrl;
    if (url === undefined || url === null) return;
    const secret = receiver === 'webhook' ? webhook?.secret : null;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Alertmanager/0.28.0',
        ...(secret ? { authorization: `Bearer ${secret}` } : {}),
      },
      body: JSON.stringify(receiver === 'webhook' ? webhookBody(alert) : slackMessage(alert)),
      signal: AbortSignal.timeout(sendTimeoutMs),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`answered ${response.status}`);
  }

  /** A resolved alert is kept until everybody who knows of it has heard that it is over. */
  #forgetWhenDone(id: string): void {
    const alert = this.#alerts.get(id);
    if (alert === undefined || alert.endsAt === null) return;
    const owed = (['webhook', 'slack'] as const).some(
      (receiver) => alert[receiver].accepted === 'firing' || this.#sending.has(`${id}/${receiver}`),
    );
    if (owed) return;
    this.#alerts.delete(id);
    this.#save();
  }

  #put(id: string, alert: Raised): void {
    this.#alerts.set(id, alert);
    this.#save();
  }

  #save(): void {
    writeStateFile(this.#path, JSON.stringify(Object.fromEntries(this.#alerts)));
  }
}
