import { randomUUID } from 'node:crypto';
import { appendFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseTargets } from '../../../src/config/targets.ts';
import type { Sql } from '../../../src/core/sql.ts';
import { createAcceptIn } from '../../../src/ingest/accept.ts';
import { createLogWatch, type WatchLogsDeps } from '../../../src/ingest/watch-logs.ts';
import { kinds } from '../../../src/targets/kinds.ts';
import { connectSystems, toTarget } from '../../../src/targets/systems.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

const pace = { lookMs: 10, newsMs: 20, againMs: 50, askMs: 50 };

let db: AcceptDatabase;
let dir: string;
let log: string;
const stops: (() => Promise<void>)[] = [];
beforeAll(async () => {
  db = await acceptDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, watch_state, process CASCADE`;
  dir = scratchDir();
  log = join(dir, 'app.log');
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A process that watches; its heartbeat is a row that the test keeps. */
async function bot(given: Partial<WatchLogsDeps> = {}, patterns: unknown = ['ERROR'], logs: object[] = []) {
  const executorId = randomUUID();
  await db.sql`INSERT INTO process (executor_id, pid, host, beat_at)
    VALUES (${executorId}, 1, 'test', clock_timestamp() + interval '1 hour')`;
  const watch = [{ file: log, patterns }, ...logs];
  const entry = { name: 'shop', kind: 'host', roots: [dir], watch };
  const configs = parseTargets({ targets: [entry] }, {}, 'sentry.yaml', kinds);
  const systems = connectSystems(kinds, configs, { ownPorts: [] });
  const watching = createLogWatch({
    sql: db.sql,
    acceptIn: createAcceptIn(configs.map(toTarget), domainOf),
    watched: systems.logs,
    executorId,
    log: quiet,
    pace,
    ...given,
  });
  watching.look();
  const stop = async (): Promise<void> => {
    await watching.stop();
    await systems.close();
    await db.sql`DELETE FROM process WHERE executor_id = ${executorId}`;
  };
  stops.push(stop);
  return { stop, executorId };
}

const state = async (of = log): Promise<Row | undefined> =>
  (await db.sql<Row>`SELECT * FROM watch_state WHERE log = ${of}`)[0];
const begun = () => waitFor('it has begun', async () => ((await state())?.position ?? null) !== null);
/** `3 ERROR order # failed`, a line an alert in the order in which they were told. */
const told = async (): Promise<readonly string[]> =>
  (
    await db.sql<{ lines: string; line: string }>`
      SELECT annotations->>'lines' AS lines, annotations->>'line' AS line FROM alert ORDER BY id`
  ).map(({ lines, line }) => `${lines} ${line}`);
/** How many lines were told in all. */
const total = async (): Promise<number> =>
  Number((await db.sql<Row>`SELECT coalesce(sum((annotations->>'lines')::int), 0) AS n FROM alert`)[0]?.n);
const incidents = () => db.sql<Row>`SELECT title, severity, target, occurrences FROM incident ORDER BY title`;

test('opens an incident for each message, whatever its numbers, and counts what is said again', async () => {
  writeFileSync(log, 'ERROR from before\n');
  await bot({}, [
    { match: 'FATAL', name: 'Fatal', severity: 'critical' },
    { match: 'ERROR', name: 'Shop' },
  ]);
  await begun();
  appendFileSync(log, 'INFO fine\nERROR order 1 failed\nERROR order 2 failed\nFATAL ERROR disk sda1\n');
  await waitFor('all is told', async () => (await total()) === 3);
  appendFileSync(log, 'ERROR order 3 failed\n');
  await waitFor('it is told again', async () => (await total()) === 4);
  expect(await told()).toEqual(
    expect.arrayContaining(['2 ERROR order 1 failed', '1 FATAL ERROR disk sda1', '1 ERROR order 3 failed']),
  );
  expect(await incidents()).toEqual([
    {
      title: 'Fatal in app.log: FATAL ERROR disk sda1',
      severity: 'critical',
      target: 'shop',
      occurrences: 1,
    },
    { title: 'Shop in app.log: ERROR order 1 failed', severity: 'error', target: 'shop', occurrences: 2 },
  ]);
  expect(await state()).toMatchObject({ lines: 5, matched: 4, cut: 0, problem: null, note: null });
});

test('takes secrets out, of what is shown and of what it is known by', async () => {
  writeFileSync(log, '');
  await bot();
  await begun();
  for (const password of ['hunter-zwei-x', 'correct-horse-y'])
    appendFileSync(log, `ERROR cannot reach postgres://shop:${password}@db/orders\n`);
  await waitFor('both are told', async () => (await total()) === 2);
  const rows = JSON.stringify([
    await db.sql`SELECT * FROM alert`,
    await db.sql`SELECT * FROM incident`,
    await state(),
  ]);
  expect(rows).not.toMatch(/hunter|horse/);
  expect(await incidents()).toHaveLength(1);
});

test('several lines are one record where they begin with what `starts` says', async () => {
  writeFileSync(log, '');
  const traces = join(dir, 'traces.log');
  writeFileSync(traces, '');
  await bot({}, ['ERROR'], [{ file: traces, starts: '^\\S', patterns: ['java\\.lang\\.\\w+Error'] }]);
  await waitFor('it has begun', async () => ((await state(traces))?.position ?? null) !== null);
  appendFileSync(traces, 'WARN slow\nERROR order 7\n  java.lang.StackOverflowError\n  at a.B(C.java:7)\n');
  await waitFor('it is told', async () => (await total()) === 1);
  expect(await told()).toEqual(['1 ERROR order 7\n  java.lang.StackOverflowError\n  at a.B(C.java:7)']);
});

test('a storm of messages is told as some of them and the rest together; no line goes uncounted', async () => {
  writeFileSync(log, '');
  await bot({ maxShapes: 5 });
  await begun();
  const word = (n: number): string =>
    n.toString().replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
  appendFileSync(log, Array.from({ length: 1_000 }, (_, n) => `ERROR in part ${word(n)} of it\n`).join(''));
  await waitFor('all is told', async () => (await total()) === 1_000);
  expect((await incidents()).length).toBeLessThan(8);
});

test('goes on where it was, through rotation; two at once tell each line once', async () => {
  writeFileSync(log, '');
  const first = await bot();
  await begun();
  appendFileSync(log, 'ERROR a\n');
  await waitFor('it is told', async () => (await total()) === 1);
  await first.stop();
  appendFileSync(log, 'ERROR b\n');
  renameSync(log, `${log}.1`);
  writeFileSync(log, 'ERROR c\n');
  const [second, third] = await Promise.all([bot(), bot()]);
  await waitFor('all is told', async () => (await total()) === 3);
  for (let n = 0; n < 20; n += 1) {
    appendFileSync(log, `ERROR d ${n}\n`);
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (n === 10) {
      // Whoever reads goes; the other goes on.
      const { owner } = (await state()) as { owner: string };
      await (second.executorId === owner ? second : third).stop();
    }
  }
  await waitFor('all is told', async () => (await total()) >= 23);
  await Promise.all([second.stop(), third.stop()]);
  expect(await total()).toBe(23);
});

test('whoever was taken for dead stores nothing any more, and tells no line again', async () => {
  writeFileSync(log, '');
  let pause: Promise<void> | undefined;
  const stuck: Sql = new Proxy(db.sql, {
    get: (sql, name, self) =>
      name === 'begin'
        ? async (...args: unknown[]) => {
            await pause;
            return (sql.begin as (...given: unknown[]) => unknown)(...args);
          }
        : Reflect.get(sql, name, self),
  });
  const first = await bot({ sql: stuck });
  await begun();
  let go: () => void = () => undefined;
  pause = new Promise((resolve) => {
    go = resolve;
  });
  appendFileSync(log, 'ERROR a\n');
  await db.sql`UPDATE process SET beat_at = clock_timestamp() - interval '1 minute' WHERE executor_id = ${first.executorId}`;
  const second = await bot();
  await waitFor('the other tells it', async () => (await total()) === 1);
  pause = undefined;
  go();
  appendFileSync(log, 'ERROR b\n');
  await waitFor('it goes on', async () => (await total()) === 2);
  await Promise.all([first.stop(), second.stop()]);
  expect(await told()).toEqual(['1 ERROR a', '1 ERROR b']);
});

test('a failure inside the transaction leaves neither position nor alert; the next time has both', async () => {
  writeFileSync(log, '');
  let failing = true;
  let tries = 0;
  const inner = createAcceptIn([], domainOf);
  await bot({
    acceptIn: async (tx, alerts) => {
      const accepted = await inner(tx, alerts);
      tries += 1;
      if (failing) throw new Error('the connection was lost');
      return accepted;
    },
  });
  await begun();
  const before = await state();
  appendFileSync(log, 'ERROR a\n');
  await waitFor('it was tried', async () => tries > 0);
  expect([await total(), (await state())?.position]).toEqual([0, before?.position]);
  failing = false;
  await waitFor('it is told', async () => (await total()) === 1, { timeoutMs: 20_000 });
  expect(await state()).toMatchObject({ lines: 1, matched: 1 });
});

test('an alert that the database refuses is told of and passed over; those beside it are stored', async () => {
  writeFileSync(log, '');
  await db.sql`CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'poison' USING ERRCODE = '22023'; END $$`;
  await db.sql`CREATE TRIGGER poison BEFORE INSERT ON alert FOR EACH ROW
    WHEN (NEW.title LIKE '%poison%') EXECUTE FUNCTION refuse_poison()`;
  try {
    await bot();
    await begun();
    appendFileSync(log, 'ERROR good\nERROR poison\n');
    await waitFor('the good one is told', async () => (await total()) === 1);
    appendFileSync(log, 'ERROR after it\n');
    await waitFor('it goes on', async () => (await total()) === 2);
    expect(await told()).toEqual(['1 ERROR good', '1 ERROR after it']);
    expect((await state())?.note).toBe('1 of its alerts could not be stored; the log says why.');
  } finally {
    await db.sql`DROP FUNCTION refuse_poison CASCADE`;
  }
});

test('says what keeps it from reading, once, and writes nothing while that lasts', async () => {
  const outside = scratchDir();
  writeFileSync(join(outside, 'else.log'), 'ERROR of somebody else\n');
  symlinkSync(join(outside, 'else.log'), log);
  await bot();
  await waitFor(
    'it is said',
    async () => (await state())?.problem === 'The path leads out of the root it belongs to.',
  );
  const { revision } = (await state()) ?? {};
  appendFileSync(join(outside, 'else.log'), 'ERROR more\n');
  await new Promise((resolve) => setTimeout(resolve, 20 * pace.againMs));
  expect((await state())?.revision).toBe(revision);
  unlinkSync(log);
  writeFileSync(log, 'ERROR a\n');
  await waitFor('it is read', async () => (await total()) === 1, { timeoutMs: 10_000 });
  expect((await state())?.problem).toBeNull();
  expect(await told()).toEqual(['1 ERROR a']);
});
