import type { WebClient } from '@slack/web-api';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { SlackMessage } from '../ports.ts';

/** Also without a reconnect: an event that Slack never delivered is found within this time. */
const EVERY_MS = 120_000;
/** So much is held in memory at once. */
const MAX_PAGES = 20;
/** What was said within so short a time is read whole, however much it is. */
const SHORTEST_SECONDS = 1;

export interface History {
  /** Reads what was missed, soon; asked again while it reads, it reads once more. */
  catchUp(): void;
  start(): void;
  stop(): Promise<void>;
}

/**
 * Reads the alert channels from the last message on record. The cursor moves only here, after everything before it was
 * taken in, so that an event lost between two that arrived is still found.
 */
export function createHistory(deps: {
  readonly client: WebClient;
  readonly sql: Sql;
  readonly log: Log;
  readonly channels: () => Promise<readonly string[]>;
  readonly take: (message: SlackMessage) => Promise<void>;
}): History {
  const { client, sql, log } = deps;
  let wanted = false;
  let stopped = false;
  let reading: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function readAll(): Promise<void> {
    for (const channel of await deps.channels()) {
      try {
        await read(channel);
      } catch (error) {
        log.warn({ channel, error: messageOf(error) }, 'the history of an alert channel cannot be read');
      }
    }
  }

  async function read(channel: string): Promise<void> {
    const [row] = await sql<{ readonly last_ts: string }>`
      SELECT last_ts FROM slack_cursor WHERE channel = ${channel}`;
    // A channel never read before begins now: its past is not our incident.
    if (!row) return remember(channel, (await newest(channel)) ?? '0');
    let from = row.last_ts;
    let to: string | undefined;
    while (!stopped) {
      const { messages, isWhole } = await readStretch(channel, from, to);
      const last = messages.at(-1)?.ts;
      if (last && !isWhole) {
        if (to === undefined)
          log.warn({ channel, since: from }, 'much was missed in an alert channel: reading all of it');
        to = middle(from, last);
        continue;
      }
      for (const message of messages) {
        if (stopped) return;
        await deps.take(message);
      }
      if (last) await remember(channel, last);
      if (to === undefined) return;
      from = to;
      to = undefined;
    }
  }

  /**
   * What was said from one moment to another, both included, oldest first. Slack gives the newest first: of what is too long
   * only that is read, and then the older half, so that the cursor never passes a gap.
   */
  async function readStretch(
    channel: string,
    from: string,
    to: string | undefined,
  ): Promise<{ readonly messages: readonly SlackMessage[]; readonly isWhole: boolean }> {
    const found: SlackMessage[] = [];
    let cursor: string | undefined;
    let page = 0;
    do {
      const answer = await client.conversations.history({
        channel,
        oldest: from,
        inclusive: true,
        limit: 200,
        ...(to ? { latest: to } : {}),
        ...(cursor ? { cursor } : {}),
      });
      for (const message of answer.messages ?? [])
        if (message.ts && isWithin(message.ts, from, to)) found.push({ ...message, channel, ts: message.ts });
      cursor = answer.response_metadata?.next_cursor || undefined;
      page += 1;
    } while (cursor && !stopped && (page < MAX_PAGES || isShort(from, found[0]?.ts)));
    return { messages: found.sort((a, b) => Number(a.ts) - Number(b.ts)), isWhole: !cursor };
  }

  async function newest(channel: string): Promise<string | undefined> {
    const answer = await client.conversations.history({ channel, limit: 1 });
    return answer.messages?.[0]?.ts;
  }

  async function remember(channel: string, ts: string): Promise<void> {
    await sql`
      INSERT INTO slack_cursor (channel, last_ts) VALUES (${channel}, ${ts})
      ON CONFLICT (channel) DO UPDATE SET last_ts = EXCLUDED.last_ts
        WHERE slack_cursor.last_ts::numeric < EXCLUDED.last_ts::numeric`;
  }

  function catchUp(): void {
    wanted = true;
    if (reading || stopped) return;
    reading = (async () => {
      while (wanted && !stopped) {
        wanted = false;
        await readAll();
      }
    })()
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, 'catching up with Slack failed'))
      .finally(() => {
        reading = undefined;
      });
  }

  return {
    catchUp,
    start() {
      catchUp();
      timer = setInterval(catchUp, EVERY_MS);
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await reading;
    },
  };
}

/** A server may answer with more than was asked for; what came before the cursor is on record, or was never our incident. */
const isWithin = (ts: string, from: string, to = ts): boolean =>
  Number(ts) > Number(from) && Number(ts) <= Number(to);

/** Of a stretch of time, in seconds as Slack writes them. */
const middle = (from: string, to: string): string => ((Number(from) + Number(to)) / 2).toFixed(6);

const isShort = (from: string, newest = from): boolean => Number(newest) - Number(from) <= SHORTEST_SECONDS;
