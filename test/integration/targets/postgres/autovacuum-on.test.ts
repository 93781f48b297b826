import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tableBloat } from '../../../../playground/faults/postgres/table-bloat.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { type Loose, type ShopRig, startShopRig } from './shop-rig.ts';

let rig: ShopRig;
beforeAll(async () => {
  rig = await startShopRig();
  await rig.shop.admin`GRANT CREATE ON SCHEMA public TO shop_owner`;
});
afterAll(() => rig.stop());

const NAME = 'postgres_autovacuum_on';
const tool = (name: string): Loose => allTools.find((each) => each.name === name);

/** A table of the owner whose rights Sentry's role has; `sql` makes it. */
async function make(sql: string): Promise<void> {
  await rig.shop.admin.unsafe(`SET ROLE shop_owner; ${sql}; RESET ROLE`);
}

async function optionsOf(relation: string): Promise<string | null> {
  const [row] = await rig.shop.admin`
    SELECT array_to_string(reloptions, ', ') AS options FROM pg_class WHERE oid = ${relation}::regclass`;
  return (row?.['options'] ?? null) as string | null;
}

describe('autovacuum on', () => {
  test('takes back what the playground’s fault did, and its effect is seen', async () => {
    await tableBloat.cause(rig.shop);
    const table = { schema: 'public', table: 'cart_events' };
    const before = await rig.preflight(NAME, table);
    expect(before.lines.join('\n')).toContain('autovacuum_enabled=false');
    expect(before.undo).toBe('ALTER TABLE "public"."cart_events" SET (autovacuum_enabled = false)');
    expect(await rig.verified(NAME, table, before.guard)).toBe(false);
    expect(await rig.look(NAME, table, before.guard)).toBe('not_done');
    const { guard, clock } = before;
    expect((await rig.run(NAME, table, guard, { clock, withinMs: 0 })).kind).toBe('failed');
    expect(await rig.verified(NAME, table, guard)).toBe(false);
    expect(await rig.run(NAME, table, guard, { clock, withinMs: 10_000 })).toMatchObject({
      kind: 'succeeded',
      text: 'Autovacuum is no longer switched off for public.cart_events.',
    });
    expect(await rig.verified(NAME, table, guard)).toBe(true);
    expect(await rig.look(NAME, table, guard)).toBe('done');
    // The reserved connection goes on as before.
    expect(await optionsOf('cart_events')).toBeNull();
    await expect(rig.preflight(NAME, table)).rejects.toMatchObject({ code: 'GONE' });
    await tableBloat.undo(rig.shop);
  });

  test('touches the very thing that a vacuum of the table does', async () => {
    await make('CREATE TABLE same (n int) WITH (autovacuum_enabled = off)');
    const table = { schema: 'public', table: 'same' };
    const [on, vacuum] = [
      await rig.preflight(NAME, table),
      await rig.preflight('postgres_vacuum_table', table),
    ];
    expect(tool(NAME).objects(table, on.guard, on)).toEqual(
      tool('postgres_vacuum_table').objects(table, vacuum.guard, vacuum),
    );
  });

  test('leaves every other storage parameter as it is', async () => {
    await make(
      'CREATE TABLE tuned (n int) WITH (fillfactor = 70, autovacuum_enabled = off, autovacuum_vacuum_threshold = 9)',
    );
    expect((await rig.act(NAME, { table: 'tuned' })).kind).toBe('succeeded');
    expect(await optionsOf('tuned')).toBe('fillfactor=70, autovacuum_vacuum_threshold=9');
  });

  test.each([
    ['dropped', 'DROP TABLE moving', 'cannot_tell'],
    [
      'made anew under its name',
      'DROP TABLE moving; SET ROLE shop_owner; CREATE TABLE moving (n int) WITH (autovacuum_enabled = off); RESET ROLE',
      'cannot_tell',
    ],
    ['given another parameter', 'ALTER TABLE moving SET (fillfactor = 50)', 'cannot_tell'],
    ['seen to by somebody else', 'ALTER TABLE moving RESET (autovacuum_enabled)', 'done'],
  ] as const)('has no effect on a table that was %s since', async (_, moves, looks) => {
    await make('CREATE TABLE moving (n int) WITH (autovacuum_enabled = off)');
    const table = { schema: 'public', table: 'moving' };
    const { guard, clock } = await rig.preflight(NAME, table);
    await rig.shop.admin.unsafe(moves);
    const [before] = await rig.shop.admin`SELECT reloptions FROM pg_class WHERE relname = 'moving'`;
    expect(await rig.run(NAME, table, guard, { clock, withinMs: 10_000 })).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('changed meanwhile'),
    });
    const [after] = await rig.shop.admin`SELECT reloptions FROM pg_class WHERE relname = 'moving'`;
    expect(after).toEqual(before);
    expect(await rig.look(NAME, table, guard)).toBe(looks);
    await rig.shop.admin`DROP TABLE IF EXISTS moving`;
  });

  test('a name is a name, whatever stands in it', async () => {
    const evil = 'x"; DROP TABLE customers; --';
    await rig.shop.admin`CREATE SCHEMA "odd.sch""ema" AUTHORIZATION shop_owner`;
    await make(
      `CREATE TABLE "odd.sch""ema"."x""; DROP TABLE customers; --" (n int) WITH (autovacuum_enabled = off)`,
    );
    const table = { schema: 'odd.sch"ema', table: evil };
    expect((await rig.act(NAME, table)).kind).toBe('succeeded');
    expect(await rig.verified(NAME, table, null)).toBe(true);
    const [row] = await rig.shop.admin`SELECT to_regclass('customers') IS NOT NULL AS there`;
    expect(row?.['there']).toBe(true);
    await expect(rig.preflight(NAME, { table: 'products; SELECT 1' })).rejects.toMatchObject({
      code: 'GONE',
    });
  });

  test('is for a partition and a materialized view, and not for what has no rows of its own', async () => {
    await make(`CREATE TABLE parted (n int) PARTITION BY RANGE (n);
      CREATE TABLE part_1 PARTITION OF parted FOR VALUES FROM (0) TO (9) WITH (autovacuum_enabled = off);
      CREATE MATERIALIZED VIEW seen WITH (autovacuum_enabled = off) AS SELECT 1 AS n;
      CREATE VIEW window_only AS SELECT 1 AS n`);
    for (const table of ['part_1', 'seen']) {
      expect((await rig.act(NAME, { table })).kind).toBe('succeeded');
      expect(await rig.verified(NAME, { table }, null)).toBe(true);
    }
    for (const table of ['parted', 'window_only'])
      await expect(rig.preflight(NAME, { table })).rejects.toMatchObject({ code: 'GONE' });
  });

  test('of a table whose owner the role is not is refused before it is proposed', async () => {
    await rig.shop.admin`ALTER TABLE orders SET (autovacuum_enabled = off)`;
    await expect(rig.preflight(NAME, { table: 'orders' })).rejects.toMatchObject({
      code: 'POSTGRES_42501',
      hint: expect.stringContaining('GRANT "'),
    });
    await rig.shop.admin`ALTER TABLE orders RESET (autovacuum_enabled)`;
  });

  test('goes on beside writers, and beside a lock on the whole table gives up without an effect', async () => {
    await make('CREATE TABLE busy (n int) WITH (autovacuum_enabled = off); GRANT ALL ON busy TO shop_app');
    const writer = rig.client('writer');
    await writer.unsafe('BEGIN');
    await writer.unsafe('LOCK TABLE busy IN ACCESS EXCLUSIVE MODE');
    expect(await rig.act(NAME, { table: 'busy' })).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('postgres_blocking_tree'),
    });
    await writer.unsafe('ROLLBACK');
    expect(await optionsOf('busy')).toBe('autovacuum_enabled=off');
    await writer.unsafe('BEGIN');
    await writer.unsafe('INSERT INTO busy VALUES (1)');
    expect((await rig.act(NAME, { table: 'busy' })).kind).toBe('succeeded');
    await writer.unsafe('COMMIT');
  });
});
