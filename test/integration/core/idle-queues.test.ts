import { randomUUID } from 'node:crypto';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { wfQueueRunner } from '@dbos-inc/dbos-sdk/internal/wfqueue';
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { createEngine, type Engine } from '../../../src/infra/dbos/engine.ts';
import { createIdleQueues } from '../../../src/infra/dbos/idle-queues.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { waitFor } from '../../support/wait-for.ts';

const QUEUES = ['incident_turns', 'questions', '_dbos_internal_queue'];

let scratch: ScratchDatabase;
let db: Database;
/** Another process's way to the record. */
let other: Database;
let engine: Engine;
/** What was run, and what the log told. */
let ran: string[];
let told: string[];
let turn: (incident: string, reason: string) => Promise<void>;

beforeEach(async () => {
  scratch = await scratchDatabase({ migrate: true });
  [db, other] = [openDatabase(scratch.url), openDatabase(scratch.url, { max: 1 })];
  [ran, told] = [[], []];
  turn = async () => undefined;
  const log: Log = { ...quiet, warn: (_, message) => told.push(message ?? '') };
  engine = createEngine({ databaseUrl: scratch.url, sql: db.sql, log, executorId: randomUUID() });
  await engine.start(
    async (incident, reason) => {
      ran.push(`${incident} ${reason}`);
      await turn(incident, reason);
    },
    [{ name: 'nightly', cron: '0 3 1 1 *', work: async () => ran.push('nightly') }],
    async (question) => void ran.push(question),
  );
});
afterEach(async () => {
  vi.restoreAllMocks();
  await engine.stop(2_000);
  await Promise.all([db.close(), other.close()]);
  await scratch.drop();
});

const systemDatabase = () => {
  const executor = DBOSExecutor.globalInstance;
  if (!executor) throw new Error('the engine does not run');
  return executor.systemDatabase;
};

/** How often the engine itself looked at queues. */
function spyOnLooks(): () => number {
  const spies: MockInstance[] = [
    vi.spyOn(systemDatabase(), 'findAndMarkStartablePartitionedWorkflows'),
    vi.spyOn(systemDatabase(), 'findAndMarkStartableWorkflows'),
  ];
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}

interface Asked {
  readonly name?: string;
  readonly text?: string;
  readonly values?: readonly string[];
}

/** What was asked to know whether queues are empty. `isRefused`: the database does not answer that. */
function spyOnAsking(isRefused = () => false): readonly Asked[] {
  const { pool } = systemDatabase();
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
  const asked: Asked[] = [];
  vi.spyOn(pool, 'query').mockImplementation(((statement: string | Asked, ...rest: unknown[]) => {
    if (typeof statement !== 'object' || statement.name !== 'sentry_queue_waits')
      return query(statement, ...rest);
    asked.push(statement);
    return isRefused() ? Promise.reject(new Error('refused')) : query(statement, ...rest);
  }) as never);
  return asked;
}

const countOf = (asked: readonly Asked[], queue: string) =>
  asked.filter(({ values }) => values?.[0] === queue).length;

const enqueue = (incident: string, reason: string, delayMs = 0) =>
  other.sql<{ id: string }>`SELECT sentry_enqueue_turn(${incident}, ${reason}, ${delayMs}) AS id`;

it('while nothing waits, a queue costs one statement a look, and the engine itself looks at none', async () => {
  const looks = spyOnLooks();
  const asked = spyOnAsking();
  const counts = () => QUEUES.map((queue) => countOf(asked, queue));
  // The engine's own queue is looked at once a second, ours twenty times.
  await waitFor('each queue to be asked for', async () => counts().every((count) => count >= 2), {
    seen: counts,
  });
  const [turns, , own] = counts();
  expect(turns).toBeGreaterThan(own ?? Number.NaN);
  expect(looks()).toBe(0);
});

it('what is asked reads an index, however many turns are done or wait', async () => {
  const asked = spyOnAsking();
  await waitFor('a queue to be asked for', async () => asked.length > 0);
  // Of another application, so that none is begun.
  await other.sql`
    INSERT INTO dbos.workflow_status (workflow_uuid, status, name, queue_name, application_version, created_at, updated_at, application_name)
    SELECT gen_random_uuid()::text, CASE WHEN n % 20 = 0 THEN 'ENQUEUED' ELSE 'SUCCESS' END, 'turn', 'incident_turns', 'other', n, n, 'other'
    FROM generate_series(1, 20000) AS n`;
  await other.sql`ANALYZE dbos.workflow_status`;
  const client = await systemDatabase().pool.connect();
  await client.query(`SET plan_cache_mode = force_generic_plan; PREPARE asked AS ${asked[0]?.text}`);
  const plan = await client.query(`EXPLAIN EXECUTE asked ('questions')`);
  client.release(true);
  expect(JSON.stringify(plan.rows)).toMatch(/Index Only Scan/);
});

it('a turn, a delayed one and a question that another process enqueues are begun', async () => {
  await enqueue('INC-1', 'at once');
  await enqueue('INC-2', 'later', 300);
  await other.sql`SELECT sentry_enqueue_question('Q-1', 'thread')`;
  await expect
    .poll(() => ran.toSorted(), { timeout: 20_000 })
    .toEqual(['INC-1 at once', 'INC-2 later', 'Q-1']);
});

it('scheduled work is begun, which waits in a queue of the engine’s own', async () => {
  await engine.trigger('nightly');
  expect(ran).toEqual(['nightly']);
});

it('a turn of a dead process is begun again', async () => {
  await other.sql.begin(async (tx) => {
    await tx`SELECT sentry_enqueue_turn('INC-1', 'taken over')`;
    await tx`UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = 'dead' WHERE status = 'ENQUEUED'`;
  });
  await expect.poll(() => ran, { timeout: 20_000 }).toEqual(['INC-1 taken over']);
});

it('turns of one incident run one after another, in their order, and beside those of others', async () => {
  const running = new Set<string>();
  const twice: string[] = [];
  let bothRun: () => void = () => undefined;
  const both = new Promise<void>((resolve) => {
    bothRun = resolve;
  });
  turn = async (incident) => {
    if (running.has(incident)) twice.push(incident);
    running.add(incident);
    if (running.size === 2) bothRun();
    await both;
    running.delete(incident);
  };
  for (const reason of ['one', 'two', 'three'])
    for (const incident of ['INC-1', 'INC-2']) await enqueue(incident, reason);
  await expect.poll(() => ran.length, { timeout: 20_000 }).toBe(6);
  expect(twice).toEqual([]);
  for (const incident of ['INC-1', 'INC-2'])
    expect(ran.filter((line) => line.startsWith(incident))).toEqual([
      `${incident} one`,
      `${incident} two`,
      `${incident} three`,
    ]);
});

it('where the database does not say whether a queue is empty, the engine looks itself, and the log tells once', async () => {
  let isRefused = true;
  const asked = spyOnAsking(() => isRefused);
  const looks = spyOnLooks();
  await waitFor('more than one look', async () => countOf(asked, 'incident_turns') > 5 && looks() > 5);
  await enqueue('INC-1', 'without an answer');
  await expect.poll(() => ran, { timeout: 20_000 }).toEqual(['INC-1 without an answer']);
  expect(told).toEqual(['could not ask whether a queue is empty']);
  isRefused = false;
  await enqueue('INC-1', 'with an answer');
  await expect.poll(() => ran.at(-1), { timeout: 20_000 }).toBe('INC-1 with an answer');
});

it('leaves an engine alone that looks at its queues in another way', async () => {
  const pollQueue = async () => false;
  Object.assign(wfQueueRunner, { pollQueue });
  createIdleQueues({ log: quiet }).follow();
  expect(wfQueueRunner).toMatchObject({ pollQueue });
});
