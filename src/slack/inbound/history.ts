import type { WebClient } from '@slack/web-api';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { SlackMessage } from '../ports.ts';

/** Also without a reconnect: an event that Slack never delivered is found within this time. */
const EVERY_MS = 120_000;
const MAX_PAGES = 20;

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
    const missed: SlackMessage[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await client.conversations.history({
        channel,
        oldest: row.last_ts,
        limit: 200,
        ...(cursor ? { cursor } : {}),
      });
      for (const message of answer.messages ?? [])
        if (message.ts && message.ts !== row.last_ts) missed.push({ ...message, channel, ts: message.ts });
      cursor = answer.response_metadata?.next_cursor || undefined;
      if (!cursor) break;
    }
    missed.sort((a, b) => Number(a.ts) - Number(b.ts));
    for (const message of missed) {
      if (stopped) return;
      await deps.take(message);
    }
    const last = missed.at(-1)?.ts;
    if (last) await remember(channel, last);
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
