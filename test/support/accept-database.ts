import type { Sql } from '../../src/core/sql.ts';
import { openDatabase } from '../../src/infra/db/client.ts';
import { scratchDatabase } from './postgres.ts';

export interface AcceptDatabase {
  readonly url: string;
  readonly sql: Sql;
  /** The turns asked for so far, oldest first. */
  turns(): Promise<readonly { readonly incident_id: string; readonly reason: string }[]>;
  close(): Promise<void>;
}

/** A migrated database where `sentry_enqueue_turn` writes to a table instead of the job engine's queue. */
export async function acceptDatabase(connections = 10): Promise<AcceptDatabase> {
  const scratch = await scratchDatabase({ migrate: true });
  const database = openDatabase(scratch.url, { max: connections, name: 'test' });
  const { sql } = database;
  await recordTurns(sql);
  return {
    url: scratch.url,
    sql,
    turns: async () =>
      (await sql`SELECT incident_id, reason FROM asked_turn ORDER BY n`) as unknown as {
        incident_id: string;
        reason: string;
      }[],
    async close() {
      await database.close();
      await scratch.drop();
    },
  };
}

export async function recordTurns(sql: Sql): Promise<void> {
  await sql`CREATE TABLE asked_turn (n bigint GENERATED ALWAYS AS IDENTITY, incident_id text, reason text, delay_ms bigint)`;
  // The template has the engine's own.
  await sql`DROP FUNCTION IF EXISTS sentry_enqueue_turn(text, text, bigint)`;
  await sql`CREATE FUNCTION sentry_enqueue_turn(incident_id text, reason text, delay_ms bigint) RETURNS void LANGUAGE sql
    AS 'INSERT INTO asked_turn (incident_id, reason, delay_ms) VALUES ($1, $2, $3)'`;
}
