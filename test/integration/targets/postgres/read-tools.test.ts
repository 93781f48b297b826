import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blockedSessions } from '../../../../playground/faults/postgres/blocked-sessions.ts';
import { leaveRunning } from '../../../../playground/faults/postgres/client-session.ts';
import { idleInTransaction } from '../../../../playground/faults/postgres/idle-in-transaction.ts';
import { runawayQuery } from '../../../../playground/faults/postgres/runaway-query.ts';
import { tableBloat } from '../../../../playground/faults/postgres/table-bloat.ts';
import { until } from '../../../../playground/faults/until.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { keyOf, type Loose, type ShopRig, startShopRig } from './shop-rig.ts';

let rig: ShopRig;
beforeAll(async () => {
  rig = await startShopRig();
});
afterAll(() => rig.stop());

const exact = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

describe('with blocked sessions', () => {
  test('the tree names the forgotten session as the root, and everybody behind it', async () => {
    const held = await blockedSessions.cause(rig.shop);
    try {
      const { data, text } = await rig.read('postgres_blocking_tree');
      expect(data).toMatchObject({ blocked_count: 4, root_count: 1, single_root: true });
      expect(data.root).toMatchObject({
        application_name: 'shop-backoffice',
        state: 'idle in transaction',
        blocked_count: 4,
        user: 'shop_app',
      });
      expect(data.root.backend_start).toMatch(exact);
      expect(
        data.blocked.every(
          (waiter: Loose) => waiter.root_pids[0] === data.root.pid && waiter.wait_seconds >= 0,
        ),
      ).toBe(true);
      expect(data.blocked.some((waiter: Loose) => waiter.depth === 1)).toBe(true);
      expect(text.split('\n')[0]).toMatch(/^4 sessions blocked by 1 root blocker/);
      const locks = await rig.read('postgres_locks', { waiting_only: true });
      expect(locks.data.waiting_count).toBeGreaterThanOrEqual(4);
      const session = await rig.read('postgres_session', {
        pid: data.root.pid,
        backend_start: data.root.backend_start,
      });
      expect(session.data).toMatchObject({ alive: true, gone: false });
      expect(session.data.blocks_count).toBeGreaterThanOrEqual(1);
    } finally {
      await held.release();
    }
    await until(
      'the tree to be empty',
      async () => (await rig.read('postgres_blocking_tree')).data.blocked_count === 0,
    );
    expect((await rig.read('postgres_blocking_tree')).data).toMatchObject({
      root: null,
      root_count: 0,
      max_depth: 0,
    });
  });

  test('a chain shows its depth, and only its beginning is a root', async () => {
    const [first, second, third] = [rig.client('chain-1'), rig.client('chain-2'), rig.client('chain-3')];
    await first.unsafe('BEGIN');
    await first.unsafe('UPDATE products SET stock = 1 WHERE id = 101');
    await second.unsafe('BEGIN');
    await second.unsafe('UPDATE products SET stock = 1 WHERE id = 102');
    leaveRunning(second, 'UPDATE products SET stock = 1 WHERE id = 101');
    leaveRunning(third, 'UPDATE products SET stock = 1 WHERE id = 102');
    await until(
      'both to wait',
      async () => (await rig.read('postgres_blocking_tree')).data.blocked_count === 2,
    );
    const { data } = await rig.read('postgres_blocking_tree');
    expect(data).toMatchObject({
      root_count: 1,
      max_depth: 2,
      root: { application_name: 'chain-1', blocked_count: 2, direct_count: 1 },
    });
    await Promise.all([first, second, third].map((session) => session.end({ timeout: 0 })));
  });

  test('a table locked exclusively hangs none of the tools', async () => {
    const migration = rig.client('migration');
    await migration.unsafe('BEGIN');
    await migration.unsafe('LOCK TABLE cart_events IN ACCESS EXCLUSIVE MODE');
    const health = await rig.read('postgres_table_health', { table: 'cart_events' });
    expect(health.data.tables[0].table_bytes).toBeGreaterThan(1_000_000);
    await rig.read('postgres_sizes');
    await rig.read('postgres_index_use');
    await rig.read('postgres_xid_age');
    expect((await rig.read('postgres_locks', { table: 'cart_events' })).data).toMatchObject({
      exclusive_count: 1,
      lock_count: 1,
    });
    await migration.end({ timeout: 0 });
  });
});

test('a session idle in transaction is found with what it holds', async () => {
  const held = await idleInTransaction.cause(rig.shop);
  try {
    const { data } = await rig.read('postgres_idle_in_transaction', { min_seconds: 0 });
    expect(data).toMatchObject({
      idle_count: 1,
      timeout_ms: 0,
      oldest: { application_name: 'shop-newsletter', has_written: true, holds_back_vacuum: true },
    });
    expect((await rig.read('postgres_idle_in_transaction', { min_seconds: 600 })).data.idle_count).toBe(0);
    expect((await rig.read('postgres_xid_age')).data.holders).toContainEqual(
      expect.objectContaining({ kind: 'session', name: expect.stringContaining('shop-newsletter') }),
    );
  } finally {
    await held.release();
  }
});

test('a runaway query is the oldest query, and its plan can be read without running it', async () => {
  const held = await runawayQuery.cause(rig.shop);
  try {
    await until(
      'it to be a second old',
      async () => (await rig.read('postgres_long_transactions', { min_seconds: 1 })).data.query_count > 0,
    );
    const { data } = await rig.read('postgres_long_transactions', { min_seconds: 1 });
    expect(data.oldest_query).toMatchObject({ application_name: 'shop-reports', state: 'active' });
    const key = { pid: data.oldest_query.pid, backend_start: data.oldest_query.backend_start };
    const plan = await rig.read('postgres_explain', key);
    expect(plan.data.total_cost).toBeGreaterThan(1_000_000);
    expect(plan.data.sequential_scans).toContain('orders');
    const activity = await rig.read('postgres_activity');
    expect(activity.data.active).toBeGreaterThanOrEqual(1);
    expect(activity.data.sessions[0].application_name).toBe('shop-reports');
  } finally {
    await held.release();
    await runawayQuery.undo(rig.shop);
  }
});

test('a bloated table is the worst one, past its threshold, with autovacuum off', async () => {
  await tableBloat.cause(rig.shop);
  const { data, text } = await rig.read('postgres_table_health');
  expect(data.worst).toMatchObject({
    table: 'cart_events',
    over_threshold: true,
    autovacuum_enabled: false,
    options: 'autovacuum_enabled=false',
  });
  expect(data.worst.dead_rows).toBeGreaterThanOrEqual(89_000);
  expect(data.worst.dead_percent).toBeGreaterThan(50);
  expect(data.worst.bloat_bytes_estimate).toBeGreaterThan(1_000_000);
  expect(text).toContain('(over threshold)');
  await tableBloat.undo(rig.shop);
  expect((await rig.read('postgres_table_health', { table: 'cart_events' })).data.worst).toMatchObject({
    over_threshold: false,
    autovacuum_enabled: true,
  });
});

test('a replication slot that nobody reads is told with the WAL it retains', async () => {
  await rig.shop.admin`SELECT pg_create_physical_replication_slot('forgotten', true)`;
  await rig.shop.admin`UPDATE cart_events SET seen = seen`;
  const { data } = await rig.read('postgres_replication');
  expect(data).toMatchObject({
    is_standby: false,
    slot_count: 1,
    inactive_slot_count: 1,
    max_slot_wal_keep_bytes: -1,
  });
  expect(data.slots[0]).toMatchObject({ slot_name: 'forgotten', active: false });
  expect(data.max_retained_bytes).toBeGreaterThan(0);
  await rig.shop.admin`SELECT pg_drop_replication_slot('forgotten')`;
});

test('a deadlock is counted', async () => {
  const before = (await rig.read('postgres_deadlocks')).data.deadlocks;
  const [a, b] = [rig.client('deadlock-a'), rig.client('deadlock-b')];
  await a.unsafe('BEGIN; UPDATE products SET stock = 1 WHERE id = 111');
  await b.unsafe('BEGIN; UPDATE products SET stock = 1 WHERE id = 112');
  const both = await Promise.allSettled([
    a.unsafe('UPDATE products SET stock = 1 WHERE id = 112'),
    b.unsafe('UPDATE products SET stock = 1 WHERE id = 111'),
  ]);
  expect(both.filter((one) => one.status === 'rejected')).toHaveLength(1);
  // A session counts what happened to it when its transaction has ended.
  await Promise.all([a.unsafe('ROLLBACK'), b.unsafe('ROLLBACK')]);
  await until(
    'the deadlock to be counted',
    async () => (await rig.read('postgres_deadlocks')).data.deadlocks > before,
  );
});

test('slow statements have ids that explain takes; a password in one is masked', async () => {
  const app = rig.client('reader');
  await app`SELECT name FROM products WHERE price_cents > ${100} AND stock > ${5}`;
  const { data } = await rig.read('postgres_slow_statements', { order_by: 'calls', limit: 50 });
  const statement = data.statements.find((row: Loose) => row.query.startsWith('SELECT name FROM products'));
  expect(statement.queryid).toMatch(/^-?\d+$/);
  const plan = await rig.read('postgres_explain', { queryid: statement.queryid });
  expect(plan.data).toMatchObject({ generic: true, sequential_scans: ['products'] });
  const all = await rig.read('postgres_slow_statements', { order_by: 'total', limit: 50 });
  expect(all.data.statements.some((row: Loose) => /ROLE sentry_read/.test(row.query))).toBe(true);
  const password = decodeURIComponent(new URL(rig.shop.readUrl).password);
  expect(JSON.stringify(all)).not.toContain(password);
});

test("settings are the server's, not those of Sentry's own session; secrets stay hidden", async () => {
  const { data, text } = await rig.read('postgres_settings', {
    names: [
      'max_connections',
      'statement_timeout',
      'lock_timeout',
      'primary_conninfo',
      'archive_command',
      'no_such_setting',
    ],
  });
  expect(data.settings.max_connections).toMatchObject({ setting: '30', number: 30 });
  expect(data.settings.statement_timeout.number).toBe(0);
  expect(data.settings.lock_timeout.number).toBe(0);
  expect(data).toMatchObject({
    missing: ['no_such_setting'],
    hidden: ['primary_conninfo', 'archive_command'],
  });
  expect(text).toContain('never shown');
});

test('sizes, cache, checkpoints and indexes answer with numbers', async () => {
  const sizes = await rig.read('postgres_sizes');
  expect(sizes.data.databases.find((row: Loose) => row.database === 'shop_db').bytes).toBeGreaterThan(
    5_000_000,
  );
  expect(sizes.data.wal_dir_bytes).toBeGreaterThan(0);
  const cache = await rig.read('postgres_cache_hit', { sample_seconds: 0.1 });
  expect(cache.data.hit_percent).toBeGreaterThan(0);
  const checkpoints = await rig.read('postgres_checkpoints');
  expect(checkpoints.data).toMatchObject({
    archive_mode: 'off',
    archive_failing: false,
    checkpoint_timeout_seconds: 300,
  });
  const indexes = await rig.read('postgres_index_use');
  expect(indexes.data).toMatchObject({ invalid_count: 0 });
  const xid = await rig.read('postgres_xid_age');
  expect(xid.data.autovacuum_freeze_max_age).toBe(200_000_000);
  expect(xid.data.percent_to_wraparound).toBeLessThan(1);
});

test('a pid whose session was started at another time is gone', async () => {
  rig
    .client('somebody')
    .unsafe('SELECT 1')
    .then(
      () => undefined,
      () => undefined,
    );
  await until('it to be there', async () =>
    (await rig.read('postgres_activity', { include_idle: true, limit: 100 })).data.sessions.some(
      (row: Loose) => row.application_name === 'somebody',
    ),
  );
  const key = await keyOf(rig, 'somebody');
  const other = key.backend_start.replace(
    /\d{6}Z$/,
    (micros) => `${String((Number(micros.slice(0, 6)) + 1) % 1_000_000).padStart(6, '0')}Z`,
  );
  expect((await rig.read('postgres_session', key)).data.gone).toBe(false);
  expect((await rig.read('postgres_session', { ...key, backend_start: other })).data.gone).toBe(true);
});

test('explain refuses what has no plan, and never runs a second statement', async () => {
  const app = rig.client('injector');
  await app.unsafe('CREATE TEMP TABLE witness (n int)');
  leaveRunning(app, 'SELECT pg_sleep(30); DROP TABLE products');
  await until('it to run', async () => (await rig.read('postgres_activity')).data.active > 0);
  await expect(rig.read('postgres_explain', await keyOf(rig, 'injector'))).rejects.toMatchObject({
    code: 'POSTGRES_42601',
  });
  await app.end({ timeout: 0 });
  const [row] = await rig.shop.admin`SELECT to_regclass('products') IS NOT NULL AS there`;
  expect(row?.['there']).toBe(true);
});

test('reading tools cannot write', async () => {
  const options = { timeoutMs: 5_000, signal: new AbortController().signal };
  await expect(
    rig.targets.read('shop-db', (session) => session.query('CREATE TABLE nope (n int)'), options),
  ).rejects.toMatchObject({ code: 'POSTGRES_25006' });
});

test('what tools call counters stands in their data, and is only ever counted up', async () => {
  const at = (data: Loose, path: readonly string[]): readonly unknown[] => {
    const [name, ...rest] = path;
    if (name === undefined) return [data];
    return name === '*' ? data.flatMap((item: Loose) => at(item, rest)) : at(data[name], rest);
  };
  const counting = allTools.filter((tool) => 'counters' in tool && tool.counters !== undefined);
  expect(counting.length).toBeGreaterThan(3);
  for (const tool of counting) {
    const before = (await rig.read(tool.name)).data;
    const after = (await rig.read(tool.name)).data;
    for (const path of ('counters' in tool && tool.counters) || []) {
      const names = path.split('.');
      const lists = names.indexOf('*') === -1 ? names : names.slice(0, names.indexOf('*'));
      // Absent is what no server here has; a list may be empty.
      expect(at(before, lists), `${tool.name} ${path}`).not.toContain(undefined);
      for (const value of at(before, names)) expect(['number', 'object'], path).toContain(typeof value);
      if (!path.includes('*'))
        expect(Number(at(after, names)[0])).toBeGreaterThanOrEqual(Number(at(before, names)[0]));
    }
  }
});
