import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Sql } from '../../domain/sql.ts';

export const APPLICATION = 'sentry';
export const QUEUE = 'incident_turns';
export const WORKFLOW = 'incident_turn';

/**
 * `sentry_enqueue_turn(incident, reason, delay in ms)`: the engine's own SQL function with our queue and partition,
 * so that a row and its turn are written by one statement. Installed after the engine has migrated its schema.
 */
export async function installEnqueueFunction(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    // Two processes replacing the function at once fail with "tuple concurrently updated".
    await tx`SELECT pg_advisory_xact_lock(hashtextextended('sentry_enqueue_turn', 0))`;
    await tx`
      CREATE OR REPLACE FUNCTION sentry_enqueue_turn(incident text, reason text, delay_ms bigint DEFAULT 0)
      RETURNS text LANGUAGE sql AS $$
        SELECT dbos.enqueue_workflow(
          workflow_name => 'incident_turn',
          queue_name => 'incident_turns',
          positional_args => ARRAY[to_json(incident), to_json(reason)],
          app_version => 'sentry',
          queue_partition_key => incident,
          delay_until_epoch_ms => CASE WHEN delay_ms > 0
            THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint + delay_ms END,
          application_name => 'sentry')
      $$`;
  });
}

/** Brings the engine's own schema and our function up to date, without starting the engine: for commands that only enqueue. */
export async function migrateEngine(databaseUrl: string, sql: Sql): Promise<void> {
  // It tells of its migrations on stdout, which belongs to what a command answers.
  const say = console.log;
  console.log = () => undefined;
  try {
    await DBOS.migrate(databaseUrl);
  } finally {
    console.log = say;
  }
  await installEnqueueFunction(sql);
}
