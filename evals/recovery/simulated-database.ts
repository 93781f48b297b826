import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IncidentId } from '../../src/core/ids.ts';
import type { Log } from '../../src/core/log.ts';
import type { Sql } from '../../src/core/sql.ts';
import { openDatabase } from '../../src/infra/db/client.ts';
import { startEmbeddedPostgres } from '../../src/infra/db/embedded/start-embedded-postgres.ts';
import { migrateDatabase } from '../../src/infra/db/migrate.ts';

/** A turn that the record asked for, and when it is due by the simulated clock, ms since the epoch. */
export interface DueTurn {
  readonly incidentId: IncidentId;
  readonly reason: string;
  readonly at: number;
}

/**
 * An empty record whose clock stands still until somebody moves it, and whose turns wait until somebody takes them: what takes
 * a quarter of an hour in production is played in a moment, with production's own times.
 */
export interface SimulatedRecord {
  readonly sql: Sql;
  /** By the record's clock, ms since the epoch. */
  now(): number;
  /** Moves the clock; never back. */
  moveTo(at: number): Promise<void>;
  /** The turn that is due first; null: nothing is asked for. It stays until it is taken. */
  nextTurn(): Promise<DueTurn | null>;
  takeTurn(): Promise<void>;
  close(): Promise<void>;
}

export interface SimulatedServer {
  /** One at a time: the one before must be closed. */
  open(): Promise<SimulatedRecord>;
  stop(): Promise<void>;
}

/** A PostgreSQL of its own in a temporary folder, removed by `stop`. Never the configured database. */
export async function startSimulatedServer(migrationsDir: string, log: Log): Promise<SimulatedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sentry-evals-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    // Nobody reads the data after a crash.
    const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
    const server = await startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      name: 'evals',
      log,
      settings,
    });
    const admin = openDatabase(server.url, { max: 1 });
    const stop = async (): Promise<void> => {
      await admin.close();
      await server.stop();
      remove();
    };
    try {
      await makeTemplate(admin.sql, server.url, migrationsDir);
    } catch (error) {
      await stop();
      throw error;
    }
    return { open: () => openRecord(admin.sql, server.url), stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The clock is put in place before the migrations, so that their defaults and functions tell the time by it as well. */
async function makeTemplate(admin: Sql, url: string, migrationsDir: string): Promise<void> {
  await admin`CREATE DATABASE simulated_template TEMPLATE template0`;
  await admin`ALTER DATABASE simulated_template SET search_path = public, pg_catalog`;
  const template = openDatabase(databaseUrl(url, 'simulated_template'), { max: 1 });
  try {
    await installClock(template.sql);
    await migrateDatabase(databaseUrl(url, 'simulated_template'), migrationsDir);
    await installQueue(template.sql);
  } finally {
    await template.close();
  }
}

/** Found before PostgreSQL's own by the search path. Each reading is a microsecond later, so that no order is lost. */
async function installClock(sql: Sql): Promise<void> {
  await sql`CREATE TABLE simulated_clock (at timestamptz NOT NULL)`;
  await sql`INSERT INTO simulated_clock VALUES (pg_catalog.clock_timestamp())`;
  await sql`CREATE SEQUENCE simulated_tick`;
  await sql`
    CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
      SELECT at + nextval('public.simulated_tick') * interval '1 microsecond' FROM public.simulated_clock $$`;
  await sql`
    CREATE FUNCTION now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
      SELECT public.clock_timestamp() $$`;
}

/** In the engine's place: what is asked for waits in a table, by the simulated clock. */
async function installQueue(sql: Sql): Promise<void> {
  await sql`
    CREATE TABLE simulated_turn (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, incident text NOT NULL, reason text NOT NULL, due timestamptz NOT NULL)`;
  await sql`
    CREATE FUNCTION sentry_enqueue_turn(incident text, reason text, delay_ms bigint DEFAULT 0) RETURNS text LANGUAGE sql AS $$
      INSERT INTO simulated_turn (incident, reason, due)
      VALUES (incident, reason, clock_timestamp() + delay_ms * interval '1 millisecond') RETURNING id::text $$`;
  await sql`
    CREATE FUNCTION sentry_enqueue_question(question text, thread text, attempt bigint DEFAULT 1, delay_ms bigint DEFAULT 0)
    RETURNS text LANGUAGE sql AS $$ SELECT NULL::text $$`;
}

async function openRecord(admin: Sql, url: string): Promise<SimulatedRecord> {
  await admin`DROP DATABASE IF EXISTS simulated WITH (FORCE)`;
  await admin`CREATE DATABASE simulated TEMPLATE simulated_template`;
  await admin`ALTER DATABASE simulated SET search_path = public, pg_catalog`;
  const database = openDatabase(databaseUrl(url, 'simulated'), { max: 4 });
  const { sql } = database;
  // The driver learns the types of arrays with its first statement.
  await sql`SELECT 1`;
  let at = Date.now();
  const setClock = async (): Promise<void> => {
    await sql`UPDATE simulated_clock SET at = to_timestamp(${at}::float8 / 1000)`;
    await sql`SELECT setval('simulated_tick', 1)`;
  };
  await setClock();
  return {
    sql,
    now: () => at,
    async moveTo(wanted) {
      if (wanted <= at) return;
      at = wanted;
      await setClock();
    },
    async nextTurn() {
      const [row] = await sql<{ incidentId: IncidentId; reason: string; at: number }>`
        SELECT incident AS "incidentId", reason, ceil(extract(epoch FROM due) * 1000)::float8 AS at FROM simulated_turn ORDER BY due, id LIMIT 1`;
      return row ?? null;
    },
    async takeTurn() {
      await sql`DELETE FROM simulated_turn WHERE id = (SELECT id FROM simulated_turn ORDER BY due, id LIMIT 1)`;
    },
    close: () => database.close(),
  };
}

function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
