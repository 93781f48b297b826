import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaveRunning } from '../../../../playground/faults/postgres/client-session.ts';
import { runawayQuery } from '../../../../playground/faults/postgres/runaway-query.ts';
import { tableBloat } from '../../../../playground/faults/postgres/table-bloat.ts';
import { until } from '../../../../playground/faults/until.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { armDeadline } from '../../../../src/targets/postgres/active/deadline-guard.ts';
import { maintainGrant } from '../../../../src/targets/postgres/active/vacuum-table.ts';
import { blockOneRow, keyOf, type Loose, type ShopRig, startShopRig } from './shop-rig.ts';

let rig: ShopRig;
beforeAll(async () => {
  rig = await startShopRig();
});
afterAll(() => rig.stop());

const input = (name: string) => {
  const tool = allTools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(name);
  return tool.input;
};
const anotherStart = (start: string): string =>
  start.replace(/(\d)Z$/, (_all, digit: string) => `${(Number(digit) + 1) % 10}Z`);

describe('terminate', () => {
  test('ends exactly the root blocker; the waiter goes on; verified and seen by look', async () => {
    const { waiter } = await blockOneRow(rig, 21);
    const { data } = await rig.read('postgres_blocking_tree');
    const key = { pid: data.root.pid, backend_start: data.root.backend_start };
    const before = await rig.preflight('postgres_terminate_backend', key);
    expect(before.guard).toMatchObject({ ...key, user: 'shop_app', database: 'shop_db' });
    expect(before.blastRadius).toContain('rolled back');
    expect(before.lines.join('\n')).toContain('products (RowExclusiveLock)');
    expect(await rig.look('postgres_terminate_backend', key, before.guard)).toBe('not_done');
    expect(await rig.verified('postgres_terminate_backend', key, before.guard)).toBe(false);
    const outcome = await rig.run('postgres_terminate_backend', key, before.guard, {
      clock: before.clock,
      withinMs: 10_000,
    });
    expect(outcome).toMatchObject({ kind: 'succeeded', text: expect.stringContaining('is gone') });
    expect(await rig.look('postgres_terminate_backend', key, before.guard)).toBe('done');
    expect(await rig.verified('postgres_terminate_backend', key, before.guard)).toBe(true);
    await until(
      'the waiter to be through',
      async () => (await rig.read('postgres_blocking_tree')).data.blocked_count === 0,
    );
    const [row] = await waiter`SELECT stock FROM products WHERE id = 21`;
    expect(row?.['stock']).toBe(0);
  });

  test("has no effect after the deadline in the target's clock, even with the right guard", async () => {
    const { holder } = await blockOneRow(rig, 22);
    const key = await keyOf(rig, 'holder');
    const before = await rig.preflight('postgres_terminate_backend', key);
    await sleep(300);
    const outcome = await rig.run('postgres_terminate_backend', key, before.guard, {
      clock: before.clock,
      withinMs: 250,
    });
    expect(outcome.kind).toBe('failed');
    expect((await rig.read('postgres_session', key)).data.alive).toBe(true);
    await holder.end({ timeout: 0 });
  });

  test('does not touch a session whose pid is right and whose start is not', async () => {
    const { holder } = await blockOneRow(rig, 23);
    const key = await keyOf(rig, 'holder');
    const reused = { ...key, backend_start: anotherStart(key.backend_start) };
    await expect(rig.preflight('postgres_terminate_backend', reused)).rejects.toMatchObject({ code: 'GONE' });
    // As if the pid had changed hands between the pre-flight and the run.
    const { guard, clock } = await rig.preflight('postgres_terminate_backend', key);
    const moved = { ...(guard as Loose), backend_start: reused.backend_start };
    expect(
      (await rig.run('postgres_terminate_backend', reused, moved, { clock, withinMs: 10_000 })).kind,
    ).toBe('failed');
    expect((await rig.read('postgres_session', key)).data.alive).toBe(true);
    await holder.end({ timeout: 0 });
  });

  test('does not touch a session that has gone on to another transaction', async () => {
    const { holder, waiter } = await blockOneRow(rig, 24);
    const key = await keyOf(rig, 'holder');
    const { guard, clock } = await rig.preflight('postgres_terminate_backend', key);
    await holder.unsafe('COMMIT');
    await holder.unsafe('BEGIN');
    await holder.unsafe('UPDATE products SET stock = 5 WHERE id = 25');
    expect((await rig.run('postgres_terminate_backend', key, guard, { clock, withinMs: 10_000 })).kind).toBe(
      'failed',
    );
    expect((await rig.read('postgres_session', key)).data.alive).toBe(true);
    await Promise.all([holder.end({ timeout: 0 }), waiter.end({ timeout: 0 })]);
  });

  test('of a session that has ended says GONE, and changes nothing when it runs all the same', async () => {
    const client = rig.client('short-lived');
    await client`SELECT 1`;
    const key = await keyOf(rig, 'short-lived');
    const { guard, clock } = await rig.preflight('postgres_terminate_backend', key);
    await client.end({ timeout: 1 });
    await until('it to be gone', async () => (await rig.read('postgres_session', key)).data.gone === true);
    await expect(rig.preflight('postgres_terminate_backend', key)).rejects.toMatchObject({ code: 'GONE' });
    expect((await rig.run('postgres_terminate_backend', key, guard, { clock, withinMs: 10_000 })).kind).toBe(
      'failed',
    );
  });

  test("refuses Sentry's own sessions, superusers' and background processes", async () => {
    const rows = await rig.shop.admin<{ pid: number; start: string; name: string; type: string }[]>`
      SELECT pid, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS start, application_name AS name, backend_type AS type
        FROM pg_stat_activity`;
    const refusal = async (found: (row: (typeof rows)[number]) => boolean): Promise<unknown> => {
      const row = rows.find(found);
      if (row === undefined) throw new Error('not there');
      return rig.preflight('postgres_terminate_backend', { pid: row.pid, backend_start: row.start }).then(
        () => 'no refusal',
        (error: Loose) => error.code,
      );
    };
    expect(await refusal((row) => row.name === 'sentry')).toBe('POSTGRES_OWN_BACKEND');
    expect(await refusal((row) => row.name === 'prometheus-postgres-exporter')).toBe(
      'POSTGRES_SUPERUSER_SESSION',
    );
    expect(await refusal((row) => row.type === 'checkpointer')).toBe('POSTGRES_SYSTEM_BACKEND');
    expect(await refusal((row) => row.type === 'autovacuum launcher')).toBe('POSTGRES_SYSTEM_BACKEND');
  });

  test('takes no pid or time that is not one', () => {
    const schema = input('postgres_terminate_backend');
    const backend_start = '2026-01-01T00:00:00.000000Z';
    for (const pid of ['1; DROP TABLE x', 0, -1, 1.5, 2 ** 31])
      expect(schema.safeParse({ pid, backend_start }).success).toBe(false);
    for (const start of ["2026-01-01T00:00:00Z' OR 1=1 --", 'now', 'infinity', '2026-01-01', ''])
      expect(schema.safeParse({ pid: 1, backend_start: start }).success).toBe(false);
  });
});

describe('cancel', () => {
  test('stops the statement and leaves the session', async () => {
    const held = await runawayQuery.cause(rig.shop);
    const key = await keyOf(rig, 'shop-reports');
    const { guard, clock } = await rig.preflight('postgres_cancel_query', key);
    expect(await rig.look('postgres_cancel_query', key, guard)).toBe('not_done');
    expect(await rig.verified('postgres_cancel_query', key, guard)).toBe(false);
    expect((await rig.run('postgres_cancel_query', key, guard, { clock, withinMs: 10_000 })).kind).toBe(
      'succeeded',
    );
    expect(await rig.look('postgres_cancel_query', key, guard)).toBe('done');
    expect(await rig.verified('postgres_cancel_query', key, guard)).toBe(true);
    expect((await rig.read('postgres_session', key)).data).toMatchObject({
      alive: true,
      session: { state: 'idle' },
    });
    await held.release();
  });

  test('does not cancel the next statement of the session, nor after the deadline', async () => {
    const client = rig.client('busy');
    leaveRunning(client, 'SELECT pg_sleep(0.5)');
    await until('it to run', async () =>
      (await rig.read('postgres_activity')).data.sessions.some(
        (row: Loose) => row.application_name === 'busy',
      ),
    );
    const key = await keyOf(rig, 'busy');
    const { guard, clock } = await rig.preflight('postgres_cancel_query', key);
    const late = await rig.run('postgres_cancel_query', key, guard, { clock, withinMs: 0 });
    expect(late.kind).toBe('failed');
    const next = client.unsafe('SELECT pg_sleep(0.6), 42 AS answer');
    next.then(
      () => undefined,
      () => undefined,
    );
    await until('the next to run', async () =>
      (await rig.read('postgres_session', key)).data.session?.query.includes('42'),
    );
    expect((await rig.run('postgres_cancel_query', key, guard, { clock, withinMs: 10_000 })).kind).toBe(
      'failed',
    );
    expect((await next)[0]?.['answer']).toBe(42);
  });

  test('of an idle session says that there is nothing to cancel', async () => {
    const client = rig.client('resting');
    await client`SELECT 1`;
    await expect(rig.preflight('postgres_cancel_query', await keyOf(rig, 'resting'))).rejects.toMatchObject({
      code: 'POSTGRES_NOTHING_TO_CANCEL',
    });
  });
});

describe('vacuum', () => {
  test('removes the dead rows of a bloated table', async () => {
    await tableBloat.cause(rig.shop);
    const table = { schema: 'public', table: 'cart_events' };
    const { guard, clock } = await rig.preflight('postgres_vacuum_table', table);
    expect(await rig.verified('postgres_vacuum_table', table, guard)).toBe(false);
    const late = await rig.run('postgres_vacuum_table', table, guard, { clock, withinMs: 0 });
    expect(late.kind).toBe('failed');
    expect(await rig.look('postgres_vacuum_table', table, guard)).toBe('not_done');
    const outcome = await rig.run('postgres_vacuum_table', table, guard, { clock, withinMs: 10_000 });
    expect(outcome).toMatchObject({
      kind: 'succeeded',
      text: expect.stringContaining('0 dead rows are left'),
    });
    expect(await rig.look('postgres_vacuum_table', table, guard)).toBe('done');
    expect(await rig.verified('postgres_vacuum_table', table, guard)).toBe(true);
    await tableBloat.undo(rig.shop);
  });

  test('sent after a pause past the deadline finds its connection ended by the server', async () => {
    const { clock } = await rig.preflight('postgres_vacuum_table', { table: 'orders' });
    const paused = rig.targets.act(
      'shop-db',
      async (session) => {
        expect(await armDeadline(session, String(clock), 4_000, 'true', [])).toBe(true);
        await sleep(5_000);
        return session.query('VACUUM orders');
      },
      { timeoutMs: 60_000, signal: new AbortController().signal },
    );
    await expect(paused).rejects.toMatchObject({
      code: expect.stringMatching(/^POSTGRES_(57P05|CONNECTION_CLOSED)$/),
    });
    const [row] = await rig.shop.admin`SELECT last_vacuum FROM pg_stat_all_tables WHERE relname = 'orders'`;
    expect(row?.['last_vacuum']).toBeNull();
  });

  test('a name is a name, whatever stands in it', async () => {
    const evil = 'x"; DROP TABLE customers; --';
    await rig.shop.admin.unsafe(`CREATE TABLE "x""; DROP TABLE customers; --" (n int)`);
    expect(
      (await rig.act('postgres_vacuum_table', { schema: 'public', table: evil, analyze: false })).kind,
    ).toBe('succeeded');
    const [row] = await rig.shop.admin`SELECT to_regclass('customers') IS NOT NULL AS there`;
    expect(row?.['there']).toBe(true);
    await expect(
      rig.preflight('postgres_vacuum_table', { table: 'products; SELECT 1' }),
    ).rejects.toMatchObject({ code: 'GONE' });
  });

  test('waits for a lock 5 s at most and says that nothing was done', async () => {
    const migration = rig.client('migration');
    await migration.unsafe('BEGIN');
    await migration.unsafe('LOCK TABLE stock_levels IN ACCESS EXCLUSIVE MODE');
    const outcome = await rig.act('postgres_vacuum_table', { table: 'stock_levels' });
    expect(outcome).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('postgres_blocking_tree'),
    });
    await migration.end({ timeout: 0 });
  });

  test('of a table the role may not maintain is refused, with the grant that helps on this version [L1]', async () => {
    await rig.shop.admin`REVOKE pg_maintain FROM sentry_act`;
    await expect(rig.preflight('postgres_vacuum_table', { table: 'products' })).rejects.toMatchObject({
      code: 'POSTGRES_42501',
      hint: 'GRANT MAINTAIN ON public.products TO sentry_act;',
    });
    await rig.shop.admin.unsafe('GRANT MAINTAIN ON public.products TO sentry_act');
    await rig.preflight('postgres_vacuum_table', { table: 'products' });
    await rig.shop.admin.unsafe('REVOKE MAINTAIN ON public.products FROM sentry_act');
    // What an older server is told works on this one, too: ownership is enough.
    await rig.shop.admin.unsafe(
      'CREATE TABLE owned_by_app AS SELECT 1 AS n; ALTER TABLE owned_by_app OWNER TO shop_app',
    );
    const before17 = (table: string) =>
      rig.shop.admin.begin(async (tx) => {
        await tx.unsafe('SET LOCAL SESSION AUTHORIZATION sentry_act');
        const [row] = await tx.unsafe(
          `SELECT ${maintainGrant('c', '150000')} AS hint FROM pg_class c WHERE c.oid = '${table}'::regclass`,
        );
        return String(row?.['hint']);
      });
    expect(await before17('products')).toContain('Its owner is a superuser');
    expect(await before17('owned_by_app')).toBe('GRANT shop_app TO sentry_act;');
    await rig.shop.admin.unsafe(await before17('owned_by_app'));
    await rig.preflight('postgres_vacuum_table', { table: 'owned_by_app' });
    await rig.shop.admin.unsafe('REVOKE shop_app FROM sentry_act');
    await rig.shop.admin`GRANT pg_maintain TO sentry_act`;
  });
});

describe('set a setting', () => {
  const wanted = { name: 'idle_in_transaction_session_timeout', value: '60s' };

  test('takes effect for everybody, says how to undo it, and can be undone by that', async () => {
    const { guard, clock, undo } = await rig.preflight('postgres_set_setting', wanted);
    expect(undo).toBe('ALTER SYSTEM RESET idle_in_transaction_session_timeout; SELECT pg_reload_conf()');
    expect((await rig.run('postgres_set_setting', wanted, guard, { clock, withinMs: 0 })).kind).toBe(
      'failed',
    );
    expect(await rig.look('postgres_set_setting', wanted, guard)).toBe('not_done');
    expect(await rig.verified('postgres_set_setting', wanted, guard)).toBe(false);
    expect((await rig.run('postgres_set_setting', wanted, guard, { clock, withinMs: 10_000 })).kind).toBe(
      'succeeded',
    );
    expect(await rig.look('postgres_set_setting', wanted, guard)).toBe('done');
    expect(await rig.verified('postgres_set_setting', wanted, guard)).toBe(true);
    const [row] = await rig.client('fresh')`SHOW idle_in_transaction_session_timeout`;
    expect(row?.['idle_in_transaction_session_timeout']).toBe('1min');
    // The same plan again: what it would replace is not there any more.
    expect((await rig.run('postgres_set_setting', wanted, guard, { clock, withinMs: 10_000 })).kind).toBe(
      'failed',
    );
    for (const statement of undo.split('; ')) await rig.shop.admin.unsafe(statement);
    await until(
      'the old value',
      async () =>
        (await rig.read('postgres_settings', { names: [wanted.name] })).data.settings[wanted.name].number ===
        0,
    );
  });

  test('needs the grant, and names it', async () => {
    await expect(
      rig.preflight('postgres_set_setting', { name: 'checkpoint_completion_target', value: '0.9' }),
    ).rejects.toMatchObject({
      code: 'POSTGRES_42501',
      hint: expect.stringContaining('GRANT ALTER SYSTEM ON PARAMETER checkpoint_completion_target'),
    });
  });

  test('takes only names of its list and values within their bounds', () => {
    const schema = input('postgres_set_setting');
    for (const [name, value] of [
      ['fsync', 'off'],
      ['archive_command', 'rm -rf /'],
      ['shared_preload_libraries', 'x'],
      ['work_mem', '100GB'],
      ['work_mem', "64MB'; DROP TABLE x; --"],
      ['statement_timeout', '1ms'],
      ['log_lock_waits', 'maybe'],
      ['idle_in_transaction_session_timeout', '-5s'],
    ])
      expect(schema.safeParse({ name, value }).success, `${name} = ${value}`).toBe(false);
  });
});

test('a server that dies under the statement leaves it open whether it took effect', async () => {
  const client = rig.client('victim');
  await client`SELECT 1`;
  const key = await keyOf(rig, 'victim');
  const { guard, clock } = await rig.preflight('postgres_terminate_backend', key);
  const table = { table: 'products' };
  const vacuum = await rig.preflight('postgres_vacuum_table', table);
  // The acting session is ended while it waits for the lock of its VACUUM.
  const lock = rig.client('lock');
  await lock.unsafe('BEGIN');
  await lock.unsafe('LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
  const running = rig.run('postgres_vacuum_table', table, vacuum.guard, {
    clock: vacuum.clock,
    withinMs: 10_000,
  });
  await until('VACUUM to wait', async () =>
    (await rig.read('postgres_blocking_tree')).data.blocked.some((row: Loose) =>
      row.query.startsWith('VACUUM'),
    ),
  );
  await rig.shop
    .admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'VACUUM%' AND application_name = 'sentry'`;
  expect((await running).kind).toBe('unknown');
  await lock.end({ timeout: 0 });
  // And the connection is back for the next action.
  expect((await rig.run('postgres_terminate_backend', key, guard, { clock, withinMs: 60_000 })).kind).toBe(
    'succeeded',
  );
});

describe('what the card said still holds when it runs', () => {
  const run = async (tool: string, input: Loose, guard: Loose, clock: string | null) =>
    rig.run(tool, input, guard, { clock, withinMs: 60_000 });

  test('a session that writes after its card was drawn is not ended under it', async () => {
    const client = rig.client('reader-then-writer');
    await client.unsafe('BEGIN');
    await client.unsafe('SELECT count(*) FROM products');
    const key = await keyOf(rig, 'reader-then-writer');
    const before = await rig.preflight('postgres_terminate_backend', key);
    expect(before).toMatchObject({
      risk: 'low',
      blastRadius: expect.stringContaining('has written nothing yet'),
    });
    await client.unsafe('UPDATE products SET stock = stock WHERE id < 201');
    const now = await rig.preflight('postgres_terminate_backend', key);
    expect(now.risk).toBe('medium');
    expect(now.guard).not.toEqual(before.guard);
    // As if it had written between the second look and the statement.
    expect(await run('postgres_terminate_backend', key, before.guard, before.clock)).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('has written since'),
    });
    expect((await rig.read('postgres_session', key)).data.alive).toBe(true);
    expect(await run('postgres_terminate_backend', key, now.guard, now.clock)).toMatchObject({
      kind: 'succeeded',
    });
  });

  test.each([
    ['user', 'somebody'],
    ['database', 'another'],
    ['application_name', 'shop-backoffice'],
    ['xact_start', null],
    ['has_written', false],
  ])('a session is not ended when its %s is another than the card’s', async (what, other) => {
    const client = rig.client('named');
    await client.unsafe('BEGIN');
    await client.unsafe('UPDATE products SET stock = stock WHERE id = 41');
    const key = await keyOf(rig, 'named');
    const { guard, clock } = await rig.preflight('postgres_terminate_backend', key);
    expect((guard as Loose)[what]).not.toEqual(other);
    expect(
      await run('postgres_terminate_backend', key, { ...(guard as Loose), [what]: other }, clock),
    ).toMatchObject({
      kind: 'failed',
    });
    expect((await rig.read('postgres_session', key)).data.alive).toBe(true);
    await client.end({ timeout: 0 });
  });

  test('a session that is called something else since is not ended', async () => {
    const client = rig.client('first-name');
    await client.unsafe('SELECT 1');
    const key = await keyOf(rig, 'first-name');
    const { guard, clock } = await rig.preflight('postgres_terminate_backend', key);
    await client.unsafe(`SET application_name = 'second-name'`);
    expect(await run('postgres_terminate_backend', key, guard, clock)).toMatchObject({ kind: 'failed' });
    expect((await rig.preflight('postgres_terminate_backend', key)).guard).not.toEqual(guard);
    await client.end({ timeout: 0 });
  });

  test('a statement is not cancelled under a card that said its transaction had written nothing', async () => {
    const client = rig.client('slow-writer');
    await client.unsafe('BEGIN');
    const written = `SELECT pg_sleep(60) FROM products WHERE id = 1`;
    await client.unsafe('UPDATE products SET stock = stock WHERE id = 42');
    leaveRunning(client, written);
    await until('it to run', async () =>
      (await rig.read('postgres_activity')).data.sessions.some((row: Loose) => row.query === written),
    );
    const key = await keyOf(rig, 'slow-writer');
    const { guard, clock, risk, blastRadius } = await rig.preflight('postgres_cancel_query', key);
    expect({ risk, blastRadius }).toEqual({
      risk: 'medium',
      blastRadius: expect.stringContaining('is rolled back'),
    });
    const stale = { ...(guard as Loose), has_written: false };
    expect(await run('postgres_cancel_query', key, stale, clock)).toMatchObject({ kind: 'failed' });
    const another = { ...(guard as Loose), xact_start: null };
    expect(await run('postgres_cancel_query', key, another, clock)).toMatchObject({ kind: 'failed' });
    expect((await rig.read('postgres_session', key)).data.session.state).toBe('active');
    expect(await run('postgres_cancel_query', key, guard, clock)).toMatchObject({ kind: 'succeeded' });
    await client.end({ timeout: 0 });
  });

  test('what a session reads and waits for from moment to moment voids nothing', async () => {
    const client = rig.client('busy-reader');
    await client.unsafe('BEGIN');
    await client.unsafe('SELECT count(*) FROM products');
    const key = await keyOf(rig, 'busy-reader');
    const before = await rig.preflight('postgres_terminate_backend', key);
    await client.unsafe('SELECT count(*) FROM orders');
    expect((await rig.preflight('postgres_terminate_backend', key)).guard).toEqual(before.guard);
    await client.end({ timeout: 0 });
  });

  test('a table vacuumed by hand since is not vacuumed again', async () => {
    const table = { schema: 'public', table: 'stock_levels' };
    const { guard, clock } = await rig.preflight('postgres_vacuum_table', table);
    await rig.shop.admin.unsafe('VACUUM stock_levels');
    await until('the statistics to know', async () => {
      const now = (await rig.preflight('postgres_vacuum_table', table)).guard as Loose;
      return now.last_vacuum !== (guard as Loose).last_vacuum;
    });
    expect(await run('postgres_vacuum_table', table, guard, clock)).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('vacuumed by hand'),
    });
  });

  test('a setting that somebody overrides since, or that comes from elsewhere, is not changed', async () => {
    const change = { name: 'log_min_duration_statement', value: '30s' };
    const { guard, clock } = await rig.preflight('postgres_set_setting', change);
    expect(guard).toMatchObject({ source: 'default', overrides: 0 });
    expect(
      await run('postgres_set_setting', change, { ...(guard as Loose), source: 'server' }, clock),
    ).toMatchObject({
      kind: 'failed',
    });
    await rig.shop.admin.unsafe(`ALTER ROLE shop_app SET log_min_duration_statement = '5s'`);
    expect(await run('postgres_set_setting', change, guard, clock)).toMatchObject({ kind: 'failed' });
    expect((await rig.preflight('postgres_set_setting', change)).guard).toMatchObject({ overrides: 1 });
    await rig.shop.admin.unsafe('ALTER ROLE shop_app RESET log_min_duration_statement');
    const [row] = await rig.shop
      .admin`SELECT setting FROM pg_settings WHERE name = 'log_min_duration_statement'`;
    expect(row?.['setting']).toBe('-1');
  });
});
