import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CHANNELS, USERS } from '../../playground/slack/seed.ts';
import { nothingLeft, partOf, signalPart } from '../support/chaos.ts';
import { ChaosScene, checkThread, slotOf } from '../support/chaos-scene.ts';
import { killLeftovers } from '../support/processes-under.ts';
import { type Product, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import type { Row } from '../support/typed.ts';
import { waitFor } from '../support/wait-for.ts';

/** The whole product while what it stands on fails, one part at a time; each incident must end as if nothing had been. */
const SLOW_MS = 90_000;

let dataDir: string;
let product: Product;
let scene: ChaosScene;

beforeAll(async () => {
  dataDir = scratchDir();
  product = await startProduct({ dataDir, timeoutMs: 120_000 });
  scene = new ChaosScene(dataDir, product.pageUrl ?? '');
});

beforeEach(() => scene.slack.control('reset', {}));

afterAll(async () => {
  await scene?.close();
  await product?.stop();
  killLeftovers(dataDir);
});

interface Begun {
  readonly id: string;
  readonly terminated: number;
}

async function begin(): Promise<Begun> {
  const seq = await scene.lastSeq();
  const terminated = await scene.terminated();
  await scene.cause();
  return { id: await scene.incidentAfter(seq), terminated };
}

/** Approved when asked, ended fixed, told once and in order, run once. */
async function goOn({ id, terminated }: Begun): Promise<void> {
  const done = new AbortController();
  const approving = scene.approveWhenAsked(id, done.signal);
  try {
    await scene.until(id, 'resolved', 150_000);
  } finally {
    done.abort();
    await approving;
  }
  await check({ id, terminated });
}

async function check({ id, terminated }: Begun): Promise<void> {
  await checkThread(scene, id);
  const order = ['root', 'live:1', 'action:', 'summary:1'];
  const slots = (await scene.thread(id)).map((message) => String(slotOf(message, id)));
  expect(slots.map((slot) => order.findIndex((start) => slot.startsWith(start)))).toEqual(
    order.map((_, n) => n),
  );
  expect((await scene.state(id)).verdict).toBe('fixed');
  expect((await scene.actions(id)).map((action) => action['state'])).toEqual(['succeeded']);
  expect(await scene.terminated()).toBe(terminated + 1);
  await scene.clear();
}

test('a hundred presses of Approve by four people at once, with every event delivered twice: one execution', async () => {
  await scene.slack.control('double-events', { times: 10_000 });
  // Acknowledgements count as lost at once, and Slack's retries come at once.
  await scene.slack.control('timing', { retryFactor: 0.001 });
  const begun = await begin();
  const card = await waitFor(
    'the card',
    async () =>
      (await scene.thread(begun.id)).find((message) =>
        JSON.stringify(message.blocks).includes('sentry_approve'),
      ),
    { timeoutMs: SLOW_MS, everyMs: 20 },
  );
  const people = [USERS.onCall, USERS.onCall2, USERS.admin, USERS.stranger];
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      scene.slack.asUser(people[n % people.length] ?? '').press(card, { actionId: 'sentry_approve' }),
    ),
  );
  await scene.until(begun.id, 'resolved', 150_000);
  await check(begun);
  const events = await scene.events(begun.id);
  expect(events.filter((event) => event.type === 'action.approved')).toHaveLength(1);
  const [approved] = await scene.record
    .sql<Row>`SELECT decided_by FROM action WHERE incident_id = ${begun.id}`;
  expect(approved?.['decided_by']).not.toBe(USERS.stranger);
  const [alerts] = await scene.record
    .sql<Row>`SELECT count(*) AS n FROM alert WHERE incident_id = ${begun.id}`;
  expect(Number(alerts?.['n'])).toBeLessThanOrEqual(4);
  const taken = answers.filter((answer) => answer.ok).length;
  process.stdout.write(
    `  100 presses, ${taken} acknowledged in time: 1 approval by ${approved?.['decided_by']}, 1 execution\n`,
  );
}, 600_000);

test('the same webhook twenty times at once: one incident, one occurrence, twenty times accepted', async () => {
  const body = JSON.stringify({
    version: '4',
    groupKey: '{}:{alertname="ChaosTwenty"}',
    status: 'firing',
    receiver: 'sentry',
    groupLabels: { alertname: 'ChaosTwenty' },
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://alertmanager.invalid',
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'ChaosTwenty', severity: 'warning', instance: 'nowhere' },
        annotations: { summary: 'Twenty times the same' },
        startsAt: new Date().toISOString(),
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: '',
      },
    ],
  });
  const post = () =>
    fetch(`${product.httpUrl}/webhooks/alertmanager`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
  const answers = await Promise.all(Array.from({ length: 20 }, post));
  expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 202));
  const rows = await scene.record.sql<Row>`
    SELECT i.id, i.occurrences, (SELECT count(*) FROM alert a WHERE a.incident_id = i.id) AS alerts
    FROM incident i WHERE alert_name = 'ChaosTwenty'`;
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ occurrences: 1, alerts: 1 });
  const id = String(rows[0]?.['id']);
  await scene.until(id, 'reported');
  const roots = (await scene.thread(id)).filter((message) => slotOf(message, id) === 'root');
  expect(roots).toHaveLength(1);
  process.stdout.write('  20 equal webhooks at once: 20 times 202, 1 incident, 1 root message\n');
});

test('Slack is frozen while the incident is investigated, then fails in every way: told later, in order, once', async () => {
  const begun = await begin();
  await scene.slack.control('freeze', { frozen: true });
  await waitFor('the proposal', async () => (await scene.actions(begun.id)).length > 0, {
    timeoutMs: SLOW_MS,
  });
  expect((await scene.state(begun.id)).state).toMatch(/planning|awaiting_approval/);
  const kinds = ['server_error', 'server_error_after', 'hang_up', 'hang_up_after', 'rate_limited'] as const;
  for (const kind of kinds) await scene.slack.control('fail', { kind, method: 'chat.postMessage', times: 1 });
  for (const kind of kinds) await scene.slack.control('fail', { kind, method: 'chat.update', times: 1 });
  await scene.slack.control('freeze', { frozen: false });
  await goOn(begun);
  process.stdout.write(
    `  Slack frozen, then ${kinds.join(', ')} of posts and edits: 7 messages, in order, none doubled\n`,
  );
}, 600_000);

for (const signal of ['SIGINT', 'SIGKILL'] as const)
  test(`the database restarts under the bot (${signal}) in the middle of an incident: it goes on`, async () => {
    const begun = await begin();
    await scene.until(begun.id, 'diagnosing');
    const { pid } = signalPart(dataDir, 'record', signal);
    await waitFor('the database to be back', async () => (partOf(dataDir, 'record')?.pid ?? pid) !== pid, {
      timeoutMs: SLOW_MS,
    });
    await goOn(begun);
    process.stdout.write(
      `  the record's PostgreSQL ended by ${signal} while diagnosing: fixed all the same\n`,
    );
  }, 600_000);

test('Chroma hangs for a whole incident: it ends all the same, and is remembered when Chroma is back', async () => {
  const { pid } = signalPart(dataDir, 'chroma', 'SIGSTOP');
  try {
    const begun = await begin();
    await goOn(begun);
    const [recalled] = await scene.record.sql<Row>`
      SELECT body->>'missing' AS missing FROM event WHERE incident_id = ${begun.id} AND type = 'memory.recalled' LIMIT 1`;
    expect(String(recalled?.['missing'])).not.toBe('null');
    const waiting = await scene.record.sql`SELECT 1 FROM memory_outbox WHERE id LIKE ${`${begun.id}%`}`;
    expect(waiting.length).toBeGreaterThan(0);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await waitFor(
    'the outbox to be empty',
    async () => (await scene.record.sql`SELECT 1 FROM memory_outbox`).length === 0,
    { timeoutMs: SLOW_MS, everyMs: 250 },
  );
  process.stdout.write('  Chroma paused for a whole incident: fixed without memory, remembered later\n');
}, 600_000);

test('alerts go on being read from the channel after all this', async () => {
  const messages = await scene.slack.messages({ channel: CHANNELS.alerts });
  const unread = await scene.record
    .sql`SELECT event_key, last_error FROM slack_inbox WHERE processed_at IS NULL`;
  expect(unread).toEqual([]);
  expect(messages.length).toBeGreaterThan(0);
});

test('Ctrl-C ends every process after all this, also those that were started again', async () => {
  await scene.close();
  expect(await product.stop()).toBe(0);
  await nothingLeft(dataDir);
});
