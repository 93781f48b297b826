import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql, TransactionSql } from 'postgres';
import { messageOf, OpsError } from '../../core/errors.ts';
import { sha256 } from '../../safety/sha256.ts';
import { withConnection } from './with-connection.ts';

/** The key `prisma migrate` locks on (its source, `advisory_lock_key`): it and we exclude each other. */
const lockKey = 72707369;

interface Migration {
  readonly name: string;
  readonly script: string;
  /** SHA-256 of the file as hex, as Prisma computes it. */
  readonly checksum: string;
}

interface AppliedMigration {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

/**
 * Applies the folders of `migrationsDir` (`<time>_<name>/migration.sql`) that the database does not have yet, in the
 * order of their names, each in a transaction of its own with its row in Prisma's `_prisma_migrations`, so that
 * `prisma migrate deploy` agrees about what is done. A migration that fails leaves nothing behind and is tried again
 * by the next start. Several processes may call this at once. Statements that cannot run in a transaction
 * (CREATE INDEX CONCURRENTLY) do not belong in a migration.
 *
 * @returns the names applied by this call, oldest first.
 * @throws OpsError MIGRATION_FAILED, MIGRATION_CHANGED, MIGRATION_UNKNOWN, MIGRATION_UNFINISHED, MIGRATION_LOCKED,
 *   MIGRATIONS_MISSING
 */
export async function migrate(sql: Sql, migrationsDir: string): Promise<readonly string[]> {
  const migrations = readMigrations(migrationsDir);
  const applied: string[] = [];
  for (;;) {
    const name = await applyNext(sql, migrations);
    if (name === undefined) return applied;
    applied.push(name);
  }
}

/** The same over a connection of its own. */
export function migrateDatabase(url: string, migrationsDir: string): Promise<readonly string[]> {
  return withConnection(url, (sql) => migrate(sql, migrationsDir));
}

function readMigrations(folder: string): readonly Migration[] {
  if (!existsSync(folder)) {
    throw new OpsError('MIGRATIONS_MISSING', `there is no folder of migrations at ${folder}`, {
      hint: 'The installation is incomplete: build it again with "npm run build".',
    });
  }
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const script = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      return { name, script, checksum: sha256(script) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The lock is the transaction's, not the session's: it also holds behind a transaction pooler. */
async function applyNext(sql: Sql, migrations: readonly Migration[]): Promise<string | undefined> {
  let current = '';
  try {
    return await sql.begin(async (tx) => {
      await tx`SELECT set_config('lock_timeout', '60s', true)`;
      await tx`SELECT pg_advisory_xact_lock(${lockKey})`;
      const pending = nextPending(migrations, await readApplied(tx));
      if (pending === undefined) return undefined;
      current = pending.name;
      await apply(tx, pending);
      return pending.name;
    });
  } catch (error) {
    throw migrationFault(current, error);
  }
}

async function readApplied(tx: TransactionSql): Promise<readonly AppliedMigration[]> {
  await tx`
    CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id                  varchar(36)  PRIMARY KEY NOT NULL,
      checksum            varchar(64)  NOT NULL,
      finished_at         timestamptz,
      migration_name      varchar(255) NOT NULL,
      logs                text,
      rolled_back_at      timestamptz,
      started_at          timestamptz  NOT NULL DEFAULT now(),
      applied_steps_count integer      NOT NULL DEFAULT 0
    )`;
  return tx<AppliedMigration[]>`
    SELECT migration_name, checksum, finished_at FROM _prisma_migrations
    WHERE rolled_back_at IS NULL ORDER BY migration_name`;
}

function nextPending(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration | undefined {
  const files = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const row of applied) {
    const file = files.get(row.migration_name);
    if (file === undefined) throw unknown(row.migration_name);
    if (row.finished_at === null) throw unfinished(row.migration_name);
    if (row.checksum !== file.checksum) throw changed(row.migration_name);
  }
  const done = new Set(applied.map((row) => row.migration_name));
  return migrations.find((migration) => !done.has(migration.name));
}

async function apply(tx: TransactionSql, { name, script, checksum }: Migration): Promise<void> {
  await tx.unsafe(script);
  await tx`
    INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
    VALUES (${randomUUID()}, ${checksum}, ${name}, now(), clock_timestamp(), 1)`;
}

function migrationFault(name: string, error: unknown): unknown {
  if (error instanceof OpsError) return error;
  const code = (error as { code?: unknown }).code;
  if (code === '55P03') {
    return new OpsError(
      'MIGRATION_LOCKED',
      `waited 60 s for a lock to migrate the database (${name || 'the lock of migrations'})`,
      {
        retryable: true,
        hint: 'Another process migrates or holds a table. Stop the other Sentry processes on this database, then run "sentry migrate".',
        cause: error,
      },
    );
  }
  // Nothing was being applied: the database could not be reached or read, which is not about a migration.
  if (name === '') return error;
  return new OpsError(
    'MIGRATION_FAILED',
    `migration ${name} failed and was rolled back: ${messageOf(error)}`,
    {
      hint: 'The database is as before. Fix the cause named above (often a missing right: the user must own the schema), then run "sentry migrate".',
      cause: error,
    },
  );
}

function unknown(name: string): OpsError {
  return new OpsError(
    'MIGRATION_UNKNOWN',
    `the database has migration ${name}, which this version does not know`,
    {
      hint: 'A newer Sentry has used this database. Start that version, or point DATABASE_URL at another database.',
    },
  );
}

function unfinished(name: string): OpsError {
  return new OpsError(
    'MIGRATION_UNFINISHED',
    `migration ${name} was begun by "prisma migrate" and never finished`,
    {
      hint: `Look at its row in _prisma_migrations, repair the schema, then run "prisma migrate resolve --rolled-back ${name}" (or --applied).`,
    },
  );
}

function changed(name: string): OpsError {
  return new OpsError(
    'MIGRATION_CHANGED',
    `migration ${name} is not the one that was applied: its file has changed`,
    {
      hint: `Restore prisma/migrations/${name}/migration.sql from version control; put the change into a new migration.`,
    },
  );
}
