import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alone } from '../../../../src/infra/db/alone.ts';
import { type Database, openDatabase } from '../../../../src/infra/db/client.ts';
import { grantWriterRole, WRITER_ROLE } from '../../../../src/infra/db/writer-role.ts';
import { migrateEngine } from '../../../../src/infra/dbos/enqueue-function.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { verifyAuditLog } from '../../../../src/safety/audit/audit-verify.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { typed } from '../../../support/typed.ts';

let scratch: ScratchDatabase;
let owner: Sql;
let writer: Database;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  owner = postgres(scratch.url, { max: 1, onnotice: () => undefined });
  const engine = openDatabase(scratch.url, { max: 1 });
  await migrateEngine(scratch.url, engine.sql);
  await engine.close();
  const roles = await Promise.all(
    [1, 2, 3].map(() => alone(scratch.url, () => grantWriterRole(scratch.url, quiet))),
  );
  expect(roles).toEqual([WRITER_ROLE, WRITER_ROLE, WRITER_ROLE]);
  writer = openDatabase(scratch.url, { max: 2, role: WRITER_ROLE });
  await writer.sql`SELECT 1`;
  await createAuditLog(writer.sql).append({ kind: 'test', actor: 'system', details: {} });
});
afterAll(async () => {
  await writer.close();
  await owner.end();
  await scratch.drop();
});

describe('the bot’s role', () => {
  test.each([
    'UPDATE audit_entry SET body = body',
    'DELETE FROM audit_entry',
    'TRUNCATE audit_entry',
    "INSERT INTO audit_entry VALUES (99, '', '', '')",
    'UPDATE audit_head SET seq = 0',
    'DELETE FROM audit_head',
    'ALTER TABLE audit_entry DISABLE TRIGGER ALL',
    'DROP TABLE audit_entry',
    "CREATE OR REPLACE FUNCTION audit_append(bodies text[]) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
    'DROP TRIGGER audit_entry_append_only ON audit_entry',
  ])('may not: %s', async (statement) => {
    await expect(Promise.resolve(typed(writer.sql, statement))).rejects.toMatchObject({ code: '42501' });
  });

  test('appends, and the chain is right', async () => {
    await createAuditLog(writer.sql).append({ kind: 'test', actor: 'system', details: { n: 2 } });
    expect(await verifyAuditLog(writer.sql, { key: null, witnessed: [] })).toMatchObject({ ok: true });
  });

  test('may do everything else the migrations made: every table, sequence and function', async () => {
    const missing = await owner`
      SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('public', 'dbos') AND c.relkind IN ('r', 'p') AND c.relname NOT LIKE 'audit\_%'
         AND NOT (has_table_privilege(${WRITER_ROLE}, c.oid, 'SELECT') AND has_table_privilege(${WRITER_ROLE}, c.oid, 'INSERT')
              AND has_table_privilege(${WRITER_ROLE}, c.oid, 'UPDATE') AND has_table_privilege(${WRITER_ROLE}, c.oid, 'DELETE'))`;
    expect(missing).toEqual([]);
    await writer.sql`SELECT sentry_enqueue_turn('INC-1', 'test')`;
  });

  test('gets what a later migration adds at the next start', async () => {
    await owner`CREATE TABLE added_later (id int)`;
    expect(await grantWriterRole(scratch.url, quiet)).toBe(WRITER_ROLE);
    await writer.sql`SELECT 1 FROM added_later`;
    await expect(Promise.resolve(typed(writer.sql, 'DELETE FROM audit_entry'))).rejects.toMatchObject({
      code: '42501',
    });
  });
});

test('a user who may make no role goes on as the owner', async () => {
  const other = await scratchDatabase({ migrate: true });
  const admin = postgres(other.url, { max: 1, onnotice: () => undefined });
  const name = `plain_${Date.now()}`;
  await admin.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD 'x' NOCREATEROLE`);
  const url = new URL(other.url);
  url.username = name;
  url.password = 'x';
  expect(await grantWriterRole(url.href, quiet)).toBeNull();
  await admin.end();
  await other.drop();
  await owner.unsafe(`DROP ROLE ${name}`);
});
