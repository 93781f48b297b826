import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockedSessions } from '../../../playground/faults/postgres/blocked-sessions.ts';
import { leaveRunning } from '../../../playground/faults/postgres/client-session.ts';
import { idleInTransaction } from '../../../playground/faults/postgres/idle-in-transaction.ts';
import { readMeasure } from '../../../src/core/measure.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { keyOf, type ShopRig, startShopRig } from '../targets/postgres/shop-rig.ts';

/** What Sentry's role may not see counts for nothing: neither as healthy nor as gone. */
let rig: ShopRig;
beforeAll(async () => {
  rig = await startShopRig();
});
afterAll(() => rig.stop());

/** Of a new read: what its measures say, by name. */
async function judged(tool: string, input: Json = {}): Promise<Record<string, boolean | null>> {
  const { data } = await rig.read(tool, input);
  const found = allTools.find(({ name }) => name === tool);
  const measures = (found && 'measures' in found ? found.measures : undefined) ?? [];
  return Object.fromEntries(
    measures.map((measure) => [measure.name, readMeasure(measure, measure.bound, data).isHealthy]),
  );
}

/** Until `use` has ended, Sentry's role sees of other users' sessions only that they are there. */
async function without<T>(privilege: string, use: () => Promise<T>): Promise<T> {
  const { admin } = rig.shop;
  await admin.unsafe(`REVOKE ${privilege} FROM sentry_read`);
  try {
    return await use();
  } finally {
    await admin.unsafe(`GRANT ${privilege} TO sentry_read`);
  }
}

test('sessions that wait for a lock unseen are no “nobody waits”', async () => {
  const held = await blockedSessions.cause(rig.shop);
  try {
    expect(await judged('postgres_blocking_tree')).toMatchObject({ blocked_sessions: false });
    await without('pg_monitor', async () => {
      const { text, data } = await rig.read('postgres_blocking_tree');
      expect(data.hidden_count).toBeGreaterThanOrEqual(5);
      expect(text).not.toContain('Nobody waits');
      expect(text).toContain('hidden');
      expect(await judged('postgres_blocking_tree')).toEqual({
        longest_lock_wait: null,
        blocked_sessions: null,
      });
      expect(await judged('postgres_activity')).toEqual({
        sessions_waiting_on_lock: null,
        longest_query: null,
        longest_transaction: null,
      });
      expect(await judged('postgres_long_transactions', { min_seconds: 5 })).toEqual({
        longest_query: null,
        longest_transaction: null,
      });
      // Who waits for whom stands in the locks, which anybody may read.
      expect(await judged('postgres_locks')).toEqual({ waiting_locks: false });
      expect((await rig.read('postgres_connections')).text).toContain('hidden');
      expect((await rig.read('postgres_xid_age')).text).not.toContain('Nothing holds vacuum back');
    });
  } finally {
    await held.release();
  }
});

test('a session idle in its transaction unseen is no “none is”', async () => {
  const held = await idleInTransaction.cause(rig.shop);
  try {
    await without('pg_monitor', async () => {
      expect(await judged('postgres_idle_in_transaction', { min_seconds: 0 })).toEqual({
        idle_in_transaction: null,
        longest_idle_in_transaction: null,
      });
    });
  } finally {
    await held.release();
  }
});

test('a session that is there but hidden is not gone', async () => {
  const client = rig.client('hidden-one');
  await client.unsafe('SELECT 1');
  const key = await keyOf(rig, 'hidden-one');
  expect((await rig.read('postgres_session', key)).data).toMatchObject({ gone: false, alive: true });
  await without('pg_monitor', async () => {
    const { data, text } = await rig.read('postgres_session', key);
    expect(data).toMatchObject({ gone: null, alive: null, hidden_count: 1 });
    expect(text).not.toContain('is gone');
    expect(await judged('postgres_session', key)).toEqual({
      idle_in_transaction: null,
      running_statement: null,
      sessions_behind_it: null,
    });
  });
});

test('hidden workers of the server are not counted as connections', async () => {
  const seen = (await rig.read('postgres_connections')).data.used;
  await without('pg_monitor', async () => {
    // Clients come and go between the two reads; the server's own workers are at least five.
    expect(Math.abs((await rig.read('postgres_connections')).data.used - seen)).toBeLessThan(4);
  });
});

test('what is younger than the read asks for is not healthy by a smaller bound', async () => {
  const busy = rig.client('busy');
  leaveRunning(busy, 'SELECT pg_sleep(60)');
  expect(await judged('postgres_long_transactions', { min_seconds: 50 })).toMatchObject({
    longest_query: null,
    longest_transaction: true,
  });
});

test('tables beyond those shown may be past their threshold', async () => {
  const { admin } = rig.shop;
  await admin.unsafe('CREATE TABLE lies_behind AS SELECT 1 AS x; CREATE TABLE lies_before AS SELECT 1 AS x');
  expect(await judged('postgres_table_health', { limit: 100 })).toMatchObject({
    tables_past_vacuum_threshold: expect.any(Boolean),
  });
  const { data } = await rig.read('postgres_table_health', { limit: 1 });
  expect(data.complete).toBe(false);
  if (data.over_threshold_count === 0)
    expect(await judged('postgres_table_health', { limit: 1 })).toMatchObject({
      tables_past_vacuum_threshold: null,
    });
});

test('without a replica there is no lag that could be healthy', async () => {
  expect(await judged('postgres_replication')).toMatchObject({ replay_lag: null, replay_delay: null });
});
