import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { describeSampling } from '../../../src/app/check-usual.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { ToolCall } from '../../../src/core/tool-call.ts';
import type { UsualReading } from '../../../src/core/usual.ts';
import { createLastUsual, createUnusualOf } from '../../../src/incidents/unusual-of.ts';
import { postgres } from '../../../src/targets/postgres/kind.ts';
import { deleteOldSamples, samplingStates } from '../../../src/usual/sample-rows.ts';
import { offsetOf, type ReadUsual, takeSamples } from '../../../src/usual/take-samples.ts';
import { createUsualValues } from '../../../src/usual/usual-values.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { quiet } from '../../support/quiet.ts';

const HOUR_MS = 3_600_000;
const DB = 'orders-db';
const targets = new Map([[DB, {}]]);
const never = new AbortController().signal;

let db: AcceptDatabase;
beforeAll(async () => {
  db = await acceptDatabase(4);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE usual_sample`;
  await db.sql`TRUNCATE incident CASCADE`;
  found = readingOf(100);
  reads = [];
});

const connections = { name: 'connections', label: 'connections', unit: 'connections', least: 5 };
const readingOf = (now: number | null, unread: readonly string[] = []): UsualReading => ({
  numbers: [{ ...connections, now }],
  unread,
});

let found: UsualReading | Error | null;
let system = 'one';
let reads: string[];
const read: ReadUsual = async (target) => {
  reads.push(target);
  if (found instanceof Error) throw found;
  return found && { system, reading: found };
};

/** The last minute of a slot: whatever is due in it is. */
const at = (hoursAgo: number): Date =>
  new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - hoursAgo * HOUR_MS + 59 * 60_000);
const take = (hoursAgo = 1, given: Partial<Parameters<typeof takeSamples>[0]> = {}): Promise<void> =>
  takeSamples(
    { sql: db.sql, targets, read, everyMinutes: 60, log: quiet, now: async () => at(hoursAgo), ...given },
    never,
  );
interface Row {
  readonly target: string;
  readonly system: string | null;
  readonly numbers: object;
  readonly why: string | null;
}
const rows = () => db.sql<Row>`SELECT target, system, numbers, why FROM usual_sample ORDER BY target, slot`;

/** A week of hours, as if they had been taken then. */
async function aWeek(value: number, of = 'one', target = DB): Promise<void> {
  await db.sql`
    INSERT INTO usual_sample (target, slot, taken_at, system, numbers)
    SELECT ${target}, at, at, ${of}, jsonb_build_object('connections', ${value}::float8 + 10 * (n % 3))
      FROM generate_series(1, 168) n, LATERAL (SELECT clock_timestamp() - n * interval '1 hour' AS at) sampled
    ON CONFLICT DO NOTHING`;
}
async function incident(from: string, to: string | null, target: string = DB): Promise<IncidentId> {
  const [row] = await db.sql<{ id: IncidentId }>`
    INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations, state, opened_at, ended_at)
    VALUES ('slow', 'critical', 'postgres', ${target}, 'test', ${`f${Math.random()}`}, '{}', '{}',
            ${to === null ? 'diagnosing' : 'resolved'}, clock_timestamp() - ${from}::interval,
            CASE WHEN ${to}::text IS NULL THEN NULL ELSE clock_timestamp() - ${to}::interval END) RETURNING id`;
  if (!row) throw new Error('no incident');
  return row.id;
}
const valuesOf = async (id: IncidentId) => {
  const values = await createUsualValues({ sql: db.sql, targets, read }).valuesOf(id, never);
  if ('ok' in values) throw new Error(values.reason);
  return values;
};
const judged = async (id: IncidentId) => (await valuesOf(id)).values[0];

describe('samples', () => {
  test('are taken once in a slot of time, whoever asks', async () => {
    await Promise.all([take(), take()]);
    await take();
    expect(await rows()).toEqual([{ target: DB, system: 'one', numbers: { connections: 100 }, why: null }]);
    await take(0);
    expect(await rows()).toHaveLength(2);
  });

  test('are taken at the minute of the target, or later', async () => {
    const slot = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const due = slot + offsetOf(DB, 60);
    await take(0, { now: async () => new Date(due - 1) });
    expect(reads).toEqual([]);
    await take(0, { now: async () => new Date(due) });
    expect(reads).toEqual([DB]);
  });

  test('of many targets are spread over the slot, with room to be taken in it', () => {
    const offsets = Array.from({ length: 200 }, (_, n) => offsetOf(`db-${n}`, 60) / 60_000);
    expect(new Set(offsets).size).toBeGreaterThan(30);
    expect(Math.max(...offsets)).toBeLessThan(50);
    expect(offsetOf('db-1', 60)).toBe(offsetOf('db-1', 60));
  });

  test('that could not be read say why, without a secret, and are not tried again in that slot', async () => {
    found = new Error('no answer from postgres://shop:hunter2hunter2@db/shop');
    await take();
    await take();
    expect(reads).toHaveLength(1);
    const [row] = await rows();
    expect(row).toMatchObject({ system: null, numbers: {} });
    expect(row?.why).toMatch(/^no answer/);
    expect(row?.why).not.toContain('hunter2');
  });

  test('keep what was read where a part could not be, and no number that is none', async () => {
    found = {
      numbers: [
        { ...connections, now: 7 },
        { ...connections, name: 'load', now: Number.NaN },
        { ...connections, name: 'size', now: null },
      ],
      unread: ['database size: permission denied'],
    };
    await take();
    expect(await rows()).toEqual([
      { target: DB, system: 'one', numbers: { connections: 7 }, why: 'database size: permission denied' },
    ]);
  });

  test('of a kind that keeps none are not taken', async () => {
    found = null;
    await take();
    expect(await rows()).toEqual([]);
  });

  test('of one target that hangs cost the others nothing but its limit', async () => {
    const hangs: ReadUsual = (target, ...rest) =>
      target === 'a-hangs' ? new Promise(() => undefined) : read(target, ...rest);
    await take(1, { targets: new Map([['a-hangs', {}], ...targets]), read: hangs, timeoutMs: 20 });
    expect((await rows()).map(({ target, system: of }) => [target, of])).toEqual([
      ['a-hangs', null],
      [DB, 'one'],
    ]);
  });

  test('are kept for eight days, and none of a future that a wrong clock made', async () => {
    await db.sql`
      INSERT INTO usual_sample (target, slot, taken_at, system) SELECT ${DB}, at, at, 'one'
        FROM unnest(ARRAY[clock_timestamp() - interval '9 days', clock_timestamp() - interval '7 days',
                          clock_timestamp() + interval '2 days']) at`;
    await deleteOldSamples(db.sql);
    expect(await rows()).toHaveLength(1);
  });
});

describe('what is usual', () => {
  test('is what was sampled in a week, and now is judged by it', async () => {
    await aWeek(80);
    const id = await incident('1 minute', null);
    expect(await judged(id)).toMatchObject({ now: 100, unusual: 'no', hour: { low: 80, high: 100 } });
    found = readingOf(412);
    expect(await judged(id)).toMatchObject({ now: 412, unusual: 'higher' });
  });

  test('is not made by samples taken while an incident of the target was open, or just before', async () => {
    await aWeek(80);
    const id = await incident('7 days', null);
    found = readingOf(412);
    expect(await judged(id)).toMatchObject({ unusual: null, hour: null, all: null });
    expect((await valuesOf(id)).leftOut).toBeGreaterThan(160);
  });

  test('counts what was sampled after an incident had ended, and during one of another target', async () => {
    await aWeek(80);
    await incident('100 hours', '90 hours');
    await incident('7 days', null, 'another-db');
    const values = await valuesOf(await incident('1 minute', null));
    expect(values.leftOut).toBeGreaterThanOrEqual(10);
    expect(values.leftOut).toBeLessThanOrEqual(11);
    expect(values.values[0]?.unusual).toBe('no');
  });

  test('begins anew when the name stands for another system', async () => {
    await aWeek(80, 'another');
    expect(await judged(await incident('1 minute', null))).toMatchObject({ samples: 0, unusual: null });
  });

  test('is nothing of a target that was renamed', async () => {
    await aWeek(80, 'one', 'old-name');
    expect(await judged(await incident('1 minute', null))).toMatchObject({ samples: 0, unusual: null });
  });

  test('leaves out what a clock that was set back has left in the future', async () => {
    await db.sql`INSERT INTO usual_sample (target, slot, taken_at, system, numbers)
      SELECT ${DB}, at, at, 'one', '{"connections": 1}' FROM generate_series(clock_timestamp() + interval '1 minute',
        clock_timestamp() + interval '59 minutes', interval '1 minute') at`;
    expect(await judged(await incident('1 minute', null))).toMatchObject({ samples: 0 });
  });

  test('is refused of what is no target, and of a kind that keeps nothing', async () => {
    const port = createUsualValues({ sql: db.sql, targets, read });
    const ask = (id: IncidentId) => port.valuesOf(id, never);
    expect(await ask(await incident('1 minute', null, 'nobody'))).toMatchObject({ code: 'NO_TARGET' });
    const id = await incident('1 minute', null);
    found = null;
    expect(await ask(id)).toMatchObject({ code: 'NOT_KEPT' });
  });
});

describe('a read on record', () => {
  const call = (more: Partial<ToolCall>): ToolCall =>
    ({
      id: 'tc_1',
      tool: 'postgres_connections',
      target: DB,
      input: {},
      state: 'ok',
      result: { used: 412 },
      startedAt: new Date().toISOString(),
      ...more,
    }) as ToolCall;
  const said = async (more: Partial<ToolCall> = {}) =>
    (await createUnusualOf(db.sql, () => postgres.usual ?? [])(DB, [call(more)])).get('tc_1');

  test('says what it has shown that is unusual', async () => {
    await aWeek(80);
    expect(await said()).toEqual([
      expect.stringMatching(/^412 connections, usually 80 to 100 at this hour \([78] days\)$/),
    ]);
  });

  test.each([
    ['within the usual', { result: { used: 95 } }],
    ['of another target', { target: 'another-db' }],
    ['that failed', { state: 'failed' as const }],
    ['that asked for a part', { input: { limit: 3 } }],
    ['whose data does not tell', { result: null }],
    ['of a tool that keeps nothing', { tool: 'postgres_locks' }],
  ])('says nothing %s', async (_, more) => {
    await aWeek(80);
    expect(await said(more)).toBeUndefined();
  });

  test('says nothing while there is no usual', async () => {
    expect(await said()).toBeUndefined();
  });

  const last = async (...calls: readonly ToolCall[]) =>
    (await createLastUsual(db.sql, () => postgres.usual ?? []).of(DB, calls)).map(
      ({ name, now, unusual, at: when }) => ({
        name,
        now,
        unusual,
        minutes: Math.round((Date.now() - when.getTime()) / 60_000),
      }),
    );

  test('counts before the newest sample, which counts where nothing was read', async () => {
    expect(await last(call({}))).toEqual([]);
    await aWeek(80);
    await incident('10 minutes', null);
    await db.sql`INSERT INTO usual_sample (target, slot, taken_at, system, numbers)
      SELECT ${DB}, at, at, 'one', '{"connections": 300}' FROM (SELECT clock_timestamp() - interval '20 minutes' AS at) x`;
    expect(await last()).toEqual([{ name: 'connections', now: 300, unusual: 'higher', minutes: 20 }]);
    const early = call({ startedAt: new Date(Date.now() - 60_000).toISOString(), result: { used: 500 } });
    expect(await last(early, call({ result: { used: 95 } }))).toEqual([
      { name: 'connections', now: 95, unusual: 'no', minutes: 0 },
    ]);
  });

  test('is compared with the samples of its own system', async () => {
    await aWeek(80);
    await db.sql`INSERT INTO usual_sample (target, slot, taken_at, system, numbers)
      SELECT ${DB}, at, at, 'rebuilt', '{"connections": 300}' FROM (SELECT clock_timestamp() - interval '1 minute' AS at) x`;
    expect(await last()).toMatchObject([{ now: 300, unusual: null }]);
  });
});

describe('how the sampling goes', () => {
  const states = () => samplingStates(db.sql, [DB]);

  test('is told by the newest sample, and by why it fails', async () => {
    expect(describeSampling(await states(), [DB], 60, new Date())).toMatch(/^no sample yet/);
    await take(0);
    expect(describeSampling(await states(), [DB], 60, new Date())).toMatch(
      /^1 sample of 1 target, the newest at most 0 min old$/,
    );
    expect(describeSampling(await states(), [DB, 'new-db'], 60, new Date())).toMatch(
      /; new-db: no sample yet$/,
    );
    found = new Error('no answer');
    await take(1);
    const later = new Date(Date.now() + 5 * HOUR_MS);
    expect(() => describeSampling([], [DB], 60, later)).not.toThrow();
    const [state] = await states();
    expect(() => describeSampling(state ? [state] : [], [DB], 60, later)).toThrow(
      /^orders-db: newest sample 5 h old/,
    );
  });

  test('a target that was never read says why', async () => {
    found = new Error('no answer');
    await take(0);
    const known = await states();
    expect(() => describeSampling(known, [DB], 60, new Date())).toThrow(
      'orders-db: no sample, last try: no answer',
    );
  });
});
