import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Sql, Tx } from '../../core/sql.ts';
import { engineUrl } from './engine-url.ts';

export const APPLICATION = 'sentry';
export const QUEUE = 'incident_turns';
export const WORKFLOW = 'incident_turn';
/** In one process. They wait for systems, models and people more than they compute: nobody stands in a queue behind forty of them. */
export const TURNS_AT_ONCE = 40;
/** Questions of people: beside the turns, so that neither waits for the other. */
export const QUESTIONS_QUEUE = 'questions';
export const QUESTION_WORKFLOW = 'answer_question';

/**
 * `sentry_enqueue_turn(incident, reason, delay in ms)`: the engine's own SQL function with our queue and partition,
 * so that a row and its turn are written by one statement; and `sentry_enqueue_question(question, thread, …)`, the same
 * for a question: those of one thread are answered one after another. Installed after the engine has migrated its schema.
 */
async function installEnqueueFunction(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
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
    await tx`
      CREATE OR REPLACE FUNCTION sentry_enqueue_question(question text, thread text, attempt bigint DEFAULT 1, delay_ms bigint DEFAULT 0)
      RETURNS text LANGUAGE sql AS $$
        SELECT dbos.enqueue_workflow(
          workflow_name => 'answer_question',
          queue_name => 'questions',
          positional_args => ARRAY[to_json(question), to_json(thread), to_json(attempt)],
          app_version => 'sentry',
          queue_partition_key => thread,
          delay_until_epoch_ms => CASE WHEN delay_ms > 0
            THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint + delay_ms END,
          application_name => 'sentry')
      $$`;
    if (await isKnownEngine(tx)) await installBatchFunction(tx);
  });
}

/** MD5 of the body of the engine's `enqueue_workflow` that `installBatchFunction` does the same as (DBOS 5.3). */
const KNOWN_BODY = '4bf70d01dfdafeccff2e20151d85a775';

/** Another version of the engine may write other columns: then the batch goes turn by turn through its own function. */
async function isKnownEngine(tx: Tx): Promise<boolean> {
  const [row] = await tx<{ body: string }>`
    SELECT md5(prosrc) AS body FROM pg_proc WHERE proname = 'enqueue_workflow' AND pronamespace = 'dbos'::regnamespace`;
  return row?.body === KNOWN_BODY;
}

/** The turns of a batch of alerts in two set-wise inserts: a third of the cost of one call a turn, in a storm. */
async function installBatchFunction(tx: Tx): Promise<void> {
  await tx`
    CREATE OR REPLACE FUNCTION sentry_enqueue_turns(incidents text[], reason text) RETURNS void LANGUAGE sql AS $$
      WITH turn AS MATERIALIZED (
        SELECT i AS incident, gen_random_uuid()::text AS id, (extract(epoch FROM now()) * 1000)::bigint AS at
        FROM unnest(incidents) AS i
      ), status AS (
        INSERT INTO dbos.workflow_status (workflow_uuid, status, name, queue_name, priority, queue_partition_key,
          application_version, created_at, updated_at, recovery_attempts, owner_xid, serialization, application_name)
        SELECT id, 'ENQUEUED', 'incident_turn', 'incident_turns', 0, incident, 'sentry', at, at, 0,
               gen_random_uuid()::text, 'portable_json', 'sentry'
        FROM turn
      )
      INSERT INTO dbos.workflow_input (workflow_uuid, inputs, retention_timestamp)
      SELECT id, json_build_object('positionalArgs', json_build_array(incident, reason), 'namedArgs', json_build_object())::text, at
      FROM turn
    $$`;
}

/**
 * Brings the engine's own schema and our functions up to date, without starting the engine: for commands that only enqueue.
 * Run `alone` (infra/db/alone.ts): two at once wait for each other's indexes until one is ended as a deadlock.
 */
export async function migrateEngine(databaseUrl: string, sql: Sql): Promise<void> {
  await migrateQuietly(databaseUrl);
  await installEnqueueFunction(sql);
}

/** It tells of its migrations on stdout, which belongs to what a command answers. */
async function migrateQuietly(databaseUrl: string): Promise<void> {
  const say = console.log;
  console.log = () => undefined;
  try {
    await DBOS.migrate(await engineUrl(databaseUrl));
  } finally {
    console.log = say;
  }
}
