import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { afterEach, expect, test } from 'vitest';
import { OpsError } from '../../../../src/core/errors.ts';
import { migrate, migrateDatabase } from '../../../../src/infra/db/migrate.ts';
import { scratchDatabase } from '../../../support/postgres.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function emptyDatabase(): Promise<{ url: string; sql: Sql }> {
  const { url, drop } = await scratchDatabase();
  const sql = postgres(url, { max: 4, onnotice: () => undefined });
  cleanUp.push(drop, () => sql.end({ timeout: 1 }));
  return { url, sql };
}

function folder(scripts: Readonly<Record<string, string>>): string {
  const dir = scratchDir();
  for (const [name, script] of Object.entries(scripts)) {
    mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, name, 'migration.sql'), script);
  }
  return dir;
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  );
  return error instanceof OpsError ? error.code : String(error);
}

const two = {
  '20260101000000_first': 'CREATE TABLE a (n int); INSERT INTO a VALUES (1);',
  '20260102000000_second': 'ALTER TABLE a ADD COLUMN m int;',
};

test('applies what is missing in order, once, and notes it as Prisma does', async () => {
  const { sql } = await emptyDatabase();
  const dir = folder(two);
  expect(await migrate(sql, dir)).toEqual(['20260101000000_first', '20260102000000_second']);
  expect(await migrate(sql, dir)).toEqual([]);
  expect(await sql`SELECT n, m FROM a`).toEqual([{ n: 1, m: null }]);
  const rows = await sql`
    SELECT length(id) AS id, checksum, migration_name, logs, rolled_back_at, applied_steps_count,
           finished_at >= started_at AS finished
    FROM _prisma_migrations ORDER BY migration_name`;
  expect(rows[0]).toEqual({
    id: 36,
    checksum: createHash('sha256').update(two['20260101000000_first']).digest('hex'),
    migration_name: '20260101000000_first',
    logs: null,
    rolled_back_at: null,
    applied_steps_count: 1,
    finished: true,
  });
});

test('six processes at once apply each migration exactly once between them', async () => {
  const { url, sql } = await emptyDatabase();
  const dir = folder({ ...two, '20260103000000_third': 'INSERT INTO a VALUES (2); SELECT pg_sleep(0.2);' });
  const results = await Promise.all(Array.from({ length: 6 }, () => migrateDatabase(url, dir)));
  expect(results.flat().toSorted()).toEqual([
    '20260101000000_first',
    '20260102000000_second',
    '20260103000000_third',
  ]);
  expect(await sql`SELECT n FROM a ORDER BY n`).toEqual([{ n: 1 }, { n: 2 }]);
});

test('a migration that fails leaves nothing, keeps the ones before it, and succeeds once repaired', async () => {
  const { sql } = await emptyDatabase();
  const broken = { '20260103000000_third': 'CREATE TABLE b (n int); SELECT 1 / 0;' };
  expect(await codeOf(migrate(sql, folder({ ...two, ...broken })))).toBe('MIGRATION_FAILED');
  expect(await sql`SELECT to_regclass('a') IS NOT NULL AS a, to_regclass('b') IS NOT NULL AS b`).toEqual([
    { a: true, b: false },
  ]);
  const repaired = { '20260103000000_third': 'CREATE TABLE b (n int);' };
  expect(await migrate(sql, folder({ ...two, ...repaired }))).toEqual(['20260103000000_third']);
});

test('refuses a file that changed after it was applied, and a database of a newer version', async () => {
  const { sql } = await emptyDatabase();
  await migrate(sql, folder(two));
  const changed = { ...two, '20260101000000_first': 'CREATE TABLE other (n int);' };
  expect(await codeOf(migrate(sql, folder(changed)))).toBe('MIGRATION_CHANGED');
  const older = { '20260101000000_first': two['20260101000000_first'] };
  expect(await codeOf(migrate(sql, folder(older)))).toBe('MIGRATION_UNKNOWN');
});

test('refuses to go on after one that "prisma migrate" left unfinished, until it is marked as rolled back', async () => {
  const { sql } = await emptyDatabase();
  await migrate(sql, folder({}));
  await sql`INSERT INTO _prisma_migrations (id, checksum, migration_name, logs)
            VALUES ('x', 'y', '20260101000000_first', 'it failed')`;
  expect(await codeOf(migrate(sql, folder(two)))).toBe('MIGRATION_UNFINISHED');
  await sql`UPDATE _prisma_migrations SET rolled_back_at = now()`;
  expect(await migrate(sql, folder(two))).toHaveLength(2);
});

test('waits for a running "prisma migrate", which holds the same lock', async () => {
  const { url, sql } = await emptyDatabase();
  const prisma = postgres(url, { max: 1 });
  cleanUp.push(() => prisma.end());
  await prisma`SELECT pg_advisory_lock(72707369)`;
  let done = false;
  const ours = migrate(sql, folder(two)).then(() => {
    done = true;
  });
  await expect
    .poll(
      () => sql`SELECT 1 AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    .toEqual([{ waiting: 1 }]);
  expect(done).toBe(false);
  await prisma`SELECT pg_advisory_unlock(72707369)`;
  await ours;
});

test('says what is missing when there are no migrations', async () => {
  const { sql } = await emptyDatabase();
  expect(await codeOf(migrate(sql, join(scratchDir(), 'nowhere')))).toBe('MIGRATIONS_MISSING');
});
