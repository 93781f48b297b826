import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres, { type Sql } from 'postgres';
import { inject } from 'vitest';
import { openDatabase } from '../../src/infra/db/client.ts';
import { startEmbeddedPostgres } from '../../src/infra/db/embedded/start-embedded-postgres.ts';
import { migrateDatabase } from '../../src/infra/db/migrate.ts';
import { quiet } from './quiet.ts';

export interface ScratchDatabase {
  /** Of a superuser. */
  readonly url: string;
  /** Ends every session in it and removes it. */
  readonly drop: () => Promise<void>;
}

/** The repository's migrations. */
const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

let server: Promise<string> | undefined;

/**
 * An empty database of its own in the one real PostgreSQL of this test run, which starts when it is first needed
 * (2 s) and is stopped at the end of the run. Do not do to the server what other tests would feel (use up its
 * connections, kill it): for that, start one of your own with `startEmbeddedPostgres`.
 *
 * @param options.migrate apply prisma/migrations, and the engine's own (copied from a template: 0.1 s).
 * @param options.engine false: without the engine's, for a test with functions of its own in their place.
 */
export async function scratchDatabase(
  options: { readonly migrate?: boolean; readonly engine?: boolean } = {},
): Promise<ScratchDatabase> {
  server ??= startServer();
  const admin = await server;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withSql(admin, async (sql) => {
    const migrated = options.engine === false ? recordTemplate : engineTemplate;
    const template = options.migrate === true ? await migrated(sql, admin) : 'template0';
    // Copied through the log, which is the default, a database costs half as much again.
    await sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(template)} STRATEGY FILE_COPY`;
  });
  return {
    url: databaseUrl(admin, name),
    drop: () =>
      withSql(admin, async (sql) => void (await sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`)),
  };
}

/** fsync off: a test kills processes, not the machine, and nobody reads the data after the run. */
async function startServer(): Promise<string> {
  const dataDir = join(inject('scratchRoot'), 'servers', 'postgres');
  const settings = { fsync: 'off', max_connections: '300', shared_buffers: '128MB' };
  const { url } = await startEmbeddedPostgres({ dataDir, name: 'scratch', log: quiet, settings });
  return url;
}

/** One migrated database per state of the migrations. */
const recordTemplate = (sql: Sql, admin: string): Promise<string> =>
  templateOf(sql, admin, `template_${migrationsHash()}`, 'template0', (url) =>
    migrateDatabase(url, migrationsDir),
  );

/** Once a run instead of once a test: the forty steps of the engine's schema take longer than most tests. */
async function engineTemplate(sql: Sql, admin: string): Promise<string> {
  const record = await recordTemplate(sql, admin);
  return templateOf(sql, admin, `${record}_engine`, record, migrateEngineOf);
}

/** Made by whoever comes first; the others wait. */
async function templateOf(
  sql: Sql,
  admin: string,
  name: string,
  base: string,
  migrate: (url: string) => Promise<unknown>,
): Promise<string> {
  await sql`SELECT pg_advisory_lock(hashtextextended(${name}, 0))`;
  const [ready] = await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`;
  if (ready === undefined) {
    const draft = `${name}_draft`;
    await sql`DROP DATABASE IF EXISTS ${sql(draft)} WITH (FORCE)`;
    await sql`CREATE DATABASE ${sql(draft)} TEMPLATE ${sql(base)}`;
    await migrate(databaseUrl(admin, draft));
    await sql`ALTER DATABASE ${sql(draft)} RENAME TO ${sql(name)}`;
  }
  await sql`SELECT pg_advisory_unlock(hashtextextended(${name}, 0))`;
  return name;
}

async function migrateEngineOf(url: string): Promise<void> {
  // The engine is loaded by the one file that makes the template, not by all that use it.
  const { migrateEngine } = await import('../../src/infra/dbos/enqueue-function.ts');
  const { sql, close } = openDatabase(url, { max: 1 });
  await migrateEngine(url, sql).finally(close);
}

function migrationsHash(): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(migrationsDir, { withFileTypes: true })) {
    if (entry.isDirectory()) hash.update(readFileSync(join(migrationsDir, entry.name, 'migration.sql')));
  }
  return hash.digest('hex').slice(0, 16);
}

/** One connection, so that session locks hold; ended in any case. */
async function withSql<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
