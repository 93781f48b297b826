import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNELS, SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import type { Message } from '../../playground/slack/slack-shapes.ts';
import { type Database } from '../../src/infra/db/client.ts';
import { recordDatabase, shopDatabase } from './chaos.ts';
import { LocalSlackClient } from './local-slack.ts';
import type { Row } from './typed.ts';
import { waitFor } from './wait-for.ts';

/** Generous: the machine may be busy with other things. */
const SLOW_MS = 90_000;

export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * An incident of the playground, watched from outside the bot: the record's database, the local Slack and shop-db are
 * processes of their own, so all three can be read whatever becomes of the bot.
 */
export class ChaosScene {
  readonly record: Database;
  readonly shop: Database;
  readonly slack: LocalSlackClient;

  constructor(dataDir: string, pageUrl: string) {
    this.record = recordDatabase(dataDir);
    this.shop = shopDatabase(dataDir);
    this.slack = new LocalSlackClient(pageUrl);
  }

  async close(): Promise<void> {
    await Promise.all([this.record.close(), this.shop.close()]);
  }

  /** Sessions of shop-db that were ended by an operator, ever: how often the mutation took effect, by shop-db itself. */
  async terminated(): Promise<number> {
    const [row] = await this.shop.sql<Row>`
      SELECT pg_stat_force_next_flush(), sessions_killed AS n FROM pg_stat_database WHERE datname = 'shop_db'`;
    return Number(row?.['n'] ?? 0);
  }

  async lastSeq(): Promise<number> {
    const [row] = await this.record.sql<Row>`SELECT coalesce(max(seq), 0) AS seq FROM event`;
    return Number(row?.['seq']);
  }

  /** Causes the fault; answers when it is in place. Its alerts follow. */
  async cause(fault = 'blocked_sessions'): Promise<void> {
    await waitFor(
      `${fault} to be caused`,
      async () => {
        const answer = await this.slack.act('fault.cause', { userId: USERS.onCall, id: fault });
        return answer.ok;
      },
      { timeoutMs: SLOW_MS, everyMs: 500 },
    );
  }

  /** Takes the fault away, and waits until nothing fires any more, so that the next one is a new incident. */
  async clear(fault = 'blocked_sessions'): Promise<void> {
    await waitFor(
      `${fault} to be undone`,
      async () => (await this.slack.act('fault.undo', { userId: USERS.onCall, id: fault })).ok,
      { timeoutMs: SLOW_MS, everyMs: 500 },
    );
  }

  /** The first incident opened after this event. */
  async incidentAfter(seq: number): Promise<string> {
    return waitFor(
      'the incident to be opened',
      async () => {
        const [row] = await this.record.sql<Row>`
          SELECT incident_id FROM event WHERE seq > ${seq} AND type = 'incident.opened' ORDER BY seq LIMIT 1`;
        return row && String(row['incident_id']);
      },
      { timeoutMs: SLOW_MS, everyMs: 3 },
    );
  }

  async events(id: string): Promise<readonly SeenEvent[]> {
    const rows = await this.record
      .sql<Row>`SELECT seq, type, body FROM event WHERE incident_id = ${id} ORDER BY seq`;
    return rows.map((row) => ({
      seq: Number(row['seq']),
      type: String(row['type']),
      body: row['body'] as SeenEvent['body'],
    }));
  }

  async state(id: string): Promise<{ readonly state: string; readonly verdict: string | null }> {
    const [row] = await this.record.sql<Row>`SELECT state, verdict FROM incident WHERE id = ${id}`;
    return { state: String(row?.['state']), verdict: (row?.['verdict'] as string | null) ?? null };
  }

  async until(id: string, state: string, timeoutMs = SLOW_MS): Promise<void> {
    await waitFor(`${id} to be ${state}`, async () => (await this.state(id)).state === state, {
      timeoutMs,
      everyMs: 20,
      seen: () => this.#last,
    });
  }

  #last: unknown = null;

  async actions(id: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.record.sql`SELECT * FROM action WHERE incident_id = ${id} ORDER BY proposed_at`;
  }

  /**
   * The on-call engineer: presses *Approve* on every card of the incident as soon as it is there, and again when the
   * page says that the app did not answer, as a person does. Ends with `signal`.
   */
  async approveWhenAsked(id: string, signal: AbortSignal): Promise<void> {
    const oncall = this.slack.asUser(USERS.onCall);
    while (!signal.aborted) {
      const [open] = await this.record
        .sql<Row>`SELECT id FROM action WHERE incident_id = ${id} AND state = 'proposed'`;
      const card = open && (await this.thread(id)).find((message) => asks(message, String(open['id'])));
      if (card) await oncall.press(card, { actionId: 'sentry_approve' });
      await sleep(card ? 200 : 25);
    }
  }

  /** The bot's messages about an incident, root first. */
  async thread(id: string): Promise<readonly Message[]> {
    const messages = await this.slack.messages({ channel: CHANNELS.alerts });
    return messages.filter((message) => message.bot_id === SENTRY_APP.botId && slotOf(message, id) !== null);
  }
}

function asks(message: Message, actionId: string): boolean {
  const blocks = JSON.stringify(message.blocks ?? []);
  return blocks.includes('"sentry_approve"') && blocks.includes(actionId);
}

/** Which message of an incident it is, by the mark every message of the bot carries; null: none of this incident. */
export function slotOf(message: Message, id: string): string | null {
  const mark = (message.blocks?.[0] as { readonly block_id?: string } | undefined)?.block_id ?? '';
  const match = /^sentry:(INC-\d+):(.+):[0-9a-f]{1,8}$/.exec(mark);
  return match?.[1] === id ? (match[2] ?? null) : null;
}

/** What must hold in Slack for an ended incident, whatever was killed: one thread, every message once, nothing missing. */
export async function checkThread(scene: ChaosScene, id: string): Promise<{ readonly messages: number }> {
  const posts = async () => scene.record.sql<Row>`SELECT slot, ts FROM slack_post WHERE incident_id = ${id}`;
  let slots: readonly string[] = [];
  await waitFor(
    `the end of ${id} to stand in Slack`,
    async () => {
      const [thread, rows] = await Promise.all([scene.thread(id), posts()]);
      slots = thread.map((message) => String(slotOf(message, id)));
      const root = thread.find((message) => slotOf(message, id) === 'root');
      const complete = rows.every((row) => slots.includes(String(row['slot'])) && row['ts'] !== null);
      return (
        complete &&
        slots.some((slot) => slot.startsWith('summary:')) &&
        /Resolved|Over/.test(root?.text ?? '')
      );
    },
    { timeoutMs: SLOW_MS, seen: () => slots },
  );
  const thread = await scene.thread(id);
  const [incident] = await scene.record.sql<Row>`SELECT channel, thread_ts FROM incident WHERE id = ${id}`;
  const rows = new Map((await posts()).map((row) => [String(row['slot']), row['ts']]));
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const message of thread) {
    const slot = String(slotOf(message, id));
    if (seen.has(slot)) problems.push(`${slot} stands there twice`);
    seen.add(slot);
    if (rows.get(slot) !== message.ts)
      problems.push(`${slot} stands at ${message.ts}, on record is ${rows.get(slot)}`);
    if ((message.thread_ts ?? message.ts) !== incident?.['thread_ts'])
      problems.push(
        `${slot} is in thread ${message.thread_ts}, the incident's is ${incident?.['thread_ts']}`,
      );
  }
  const { duplicates, calls } = await scene.slack.counters();
  for (const { message, copies } of duplicates) problems.push(`posted ${copies} times: ${message.text}`);
  if (calls['chat.delete']) problems.push('a message was posted twice and one taken back');
  if (problems.length > 0) throw new Error(`${id} in Slack: ${problems.join('; ')}`);
  return { messages: thread.length };
}
