import type { ReceiverEvent } from '@slack/bolt';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import { within } from '../../core/within.ts';
import { outwardText } from '../../safety/screen/boundary.ts';

/** Slack waits 3 s for an acknowledgement; what is not stored by then is not acknowledged, so that Slack sends it again. */
const STORE_MS = 2_000;
/** An event not processed after this long is taken up again; longer than any handler needs. */
const STALE_SECONDS = 5;
const SWEEP_MS = 5_000;
/** An event that is taken up again waits so long for the one before it. */
const PATIENCE_MS = 500;
const MAX_ATTEMPTS = 5;
/** Whoever took it up died so often that the event itself may be why. */
const MAX_TAKES = 20;
/** Slack may replay an event for an hour after a reconnect; so long an answer to one person can be shown to others, too. */
const KEEP_HOURS = 24;
/** A click or command that old was done again by its person, or has been settled otherwise. */
const INTERACTIVE_MINUTES = 10;

type Body = Readonly<Record<string, unknown>>;
type Handle = (event: ReceiverEvent) => Promise<void>;

export interface Inbox {
  /** Stores, then hands on; an event seen before is acknowledged and dropped. Rejects when it could not be stored. */
  take(event: ReceiverEvent): Promise<void>;
  start(): void;
  /** Waits for the handlers that run. */
  stop(): Promise<void>;
}

/**
 * Every event is a row before it is acknowledged: a crash in between or after loses nothing. It is kept as it came, secrets
 * and all, until it has been handled or given up; then only its key stays, by which a second delivery is known.
 */
export function createInbox(deps: {
  readonly sql: Sql;
  readonly log: Log;
  readonly handle: Handle;
  /** Events that need no record: the bot's own messages. */
  readonly ignore: (body: Body) => boolean;
  /** Told of each event that comes to nothing. */
  readonly givenUp?: () => void;
}): Inbox {
  const { sql, log } = deps;
  const running = new Map<string, Promise<void>>();
  /** With what an event that is being worked on is acknowledged. */
  const answers = new Map<string, Promise<unknown>>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();

  /** True when the event is new. */
  async function store(key: string, body: Body): Promise<boolean> {
    const rows = await sql`
      INSERT INTO slack_inbox (event_key, body) VALUES (${key}, ${sql.json(body)})
      ON CONFLICT (event_key) DO NOTHING RETURNING 1`;
    return rows.length > 0;
  }

  async function process(key: string, event: ReceiverEvent): Promise<void> {
    try {
      await deps.handle(event);
      await sql`
        UPDATE slack_inbox SET processed_at = clock_timestamp(), body = '{}' WHERE event_key = ${key}`;
    } catch (error) {
      const reason = outwardText(messageOf(error));
      log.error(
        { event: key, error: reason },
        'an event from Slack could not be processed; it is tried again',
      );
      await sql`
        UPDATE slack_inbox SET attempts = attempts + 1, last_error = ${reason.slice(0, 500)}
         WHERE event_key = ${key}`.then(undefined, (fault: unknown) =>
        log.error({ event: key, error: messageOf(fault) }, 'the inbox cannot be written'),
      );
    }
  }

  function run(key: string, event: ReceiverEvent): Promise<void> {
    const ends = process(key, event).finally(() => running.delete(key));
    running.set(key, ends);
    return ends;
  }

  async function takeFirst(key: string, event: ReceiverEvent): Promise<void> {
    let answer = (_response?: unknown): void => undefined;
    let fail = (_error: unknown): void => undefined;
    const answered = new Promise<unknown>((resolve, reject) => {
      answer = resolve;
      fail = reject;
    });
    answered.catch(() => undefined);
    answers.set(key, answered);
    const ack: ReceiverEvent['ack'] = async (response) => {
      answer(response);
      await event.ack(response);
    };
    try {
      const isFresh = await within(STORE_MS, store(key, event.body), () => {
        throw new OpsError('SLACK_INBOX_SLOW', `An event could not be stored within ${STORE_MS} ms.`, {
          hint: 'Check the database; Slack sends the event again.',
          retryable: true,
        });
      });
      await (isFresh ? run(key, { ...event, ack }) : ack());
    } catch (error) {
      // Nor is a second delivery acknowledged of what could not be stored.
      fail(error);
      throw error;
    } finally {
      answer();
      answers.delete(key);
    }
  }

  /** What a dead process, a failed handler or a late insert has left. */
  async function sweep(): Promise<void> {
    const rows = await sql<{ readonly event_key: string; readonly body: Body; readonly at: number }>`
      UPDATE slack_inbox SET takes = takes + 1, taken_at = clock_timestamp()
      WHERE event_key IN (
        SELECT event_key FROM slack_inbox
        WHERE processed_at IS NULL AND attempts < ${MAX_ATTEMPTS} AND takes < ${MAX_TAKES}
          AND event_key <> ALL (${sql.array([...running.keys()])}::text[])
          AND coalesce(taken_at, received_at) + make_interval(secs => ${STALE_SECONDS} * (attempts * attempts * 2 + takes + 1)) < clock_timestamp()
        ORDER BY received_at LIMIT 50 FOR UPDATE SKIP LOCKED)
      RETURNING event_key, body, extract(epoch FROM received_at)::float8 AS at`;
    for (const { event_key: key, body } of rows.toSorted((a, b) => a.at - b.at)) {
      if (stopped || running.has(key)) continue;
      // In their order, but an answer that Slack does not take keeps no alert and no decision waiting.
      await within(PATIENCE_MS, run(key, { body, ack: async () => undefined }), () => undefined);
    }
    await giveUp();
    await sql`
      DELETE FROM slack_inbox WHERE processed_at < statement_timestamp() - make_interval(hours => ${KEEP_HOURS})`;
    await sql`
      DELETE FROM slack_answer WHERE at < statement_timestamp() - make_interval(hours => ${KEEP_HOURS})`;
  }

  /** Said for each: an acknowledged event that comes to nothing is one that nobody sends again. */
  async function giveUp(): Promise<void> {
    const rows = await sql<{ readonly event_key: string; readonly last_error: string | null }>`
      UPDATE slack_inbox SET processed_at = clock_timestamp(), body = '{}',
             last_error = CASE WHEN attempts >= ${MAX_ATTEMPTS} THEN last_error
               WHEN takes >= ${MAX_TAKES} THEN 'interrupted again and again' ELSE concat_ws(': ', 'too old', last_error) END
      WHERE processed_at IS NULL AND event_key <> ALL (${sql.array([...running.keys()])}::text[])
        AND (attempts >= ${MAX_ATTEMPTS}
             OR takes >= ${MAX_TAKES} AND taken_at < clock_timestamp() - make_interval(secs => ${STALE_SECONDS})
             OR event_key NOT LIKE 'event:%'
                AND received_at < clock_timestamp() - make_interval(mins => ${INTERACTIVE_MINUTES}))
      RETURNING event_key, last_error`;
    for (const { event_key: event, last_error: reason } of rows) {
      deps.givenUp?.();
      log.error({ event, reason }, 'an event from Slack is given up');
    }
  }

  const loop = (): void => {
    sweeping = sweep()
      .catch((error: unknown) =>
        log.warn({ error: messageOf(error) }, 'the inbox cannot be swept; trying again'),
      )
      .finally(() => {
        if (!stopped) timer = setTimeout(loop, SWEEP_MS);
      });
  };

  return {
    async take(event) {
      if (stopped)
        throw new OpsError('STOPPING', 'Sentry is stopping.', {
          hint: 'Slack sends it again.',
          retryable: true,
        });
      const acknowledged = { ...event, ack: quietAck(event, log) };
      if (deps.ignore(event.body)) return acknowledged.ack();
      const key = keyOf(event.body);
      if (key === null) return deps.handle(acknowledged);
      // One envelope may come over two sockets, and whichever is acknowledged first has answered the person.
      const answered = answers.get(key);
      if (answered) return acknowledged.ack((await answered) as never);
      await takeFirst(key, acknowledged);
    },
    start: loop,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await Promise.allSettled([sweeping, ...running.values()]);
    },
  };
}

/** A connection lost before the acknowledgement must not keep a stored event from being processed. */
function quietAck(event: ReceiverEvent, log: Log): ReceiverEvent['ack'] {
  return async (response?: unknown) => {
    try {
      await event.ack(response as never);
    } catch (error) {
      log.warn(
        { error: messageOf(error) },
        'an event is stored but could not be acknowledged; Slack sends it again',
      );
    }
  };
}

/** What makes two deliveries the same; null for what need not be kept (a modal closed, options asked for). */
export function keyOf(body: Body): string | null {
  const { type, event_id: eventId, trigger_id: trigger, command } = body;
  if (typeof eventId === 'string') return `event:${eventId}`;
  if (type === 'event_callback') {
    const event = body['event'] as Readonly<Record<string, unknown>> | undefined;
    return `event:${String(event?.['type'])}:${String(event?.['channel'])}:${String(event?.['event_ts'] ?? event?.['ts'])}`;
  }
  if (typeof command === 'string' && typeof trigger === 'string') return `command:${trigger}`;
  if (type === 'block_actions') {
    const [action] = (body['actions'] ?? []) as readonly { readonly action_ts?: string }[];
    return `action:${typeof trigger === 'string' ? trigger : String(action?.action_ts)}`;
  }
  if (type === 'message_action' && typeof trigger === 'string') return `shortcut:${trigger}`;
  if (type === 'view_submission') {
    const view = body['view'] as { readonly id?: string; readonly hash?: string } | undefined;
    return `view:${String(view?.id)}:${String(view?.hash)}:${String(trigger)}`;
  }
  return null;
}
