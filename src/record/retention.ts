import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';

/** Incidents in one transaction: what waits for their rows waits this long at most. */
const BATCH = 100;
/** Of one run; the next one goes on. */
const MOST_BATCHES = 100;
const USAGE_BATCH = 10_000;

/**
 * Deletes what was found, asked and paid for in incidents that ended so many days ago, or that have waited for people since then and
 * of which nothing was heard or said. The incident stays, with its alerts, how it went from state to state, what was approved and run,
 * and what memory knows of it; so does the audit log. When one goes on, what comes then has an age of its own. Answers how many
 * incidents it did.
 */
export async function deleteOldDetails(
  deps: { readonly sql: Sql; readonly audit: AuditLog; readonly log: Log },
  days: number,
  signal: AbortSignal,
): Promise<number> {
  const { sql, audit, log } = deps;
  let incidents = 0;
  for (let n = 0; n < MOST_BATCHES && !signal.aborted; n += 1) {
    const done = await deleteBatch(sql, days);
    incidents += done;
    if (done < BATCH) break;
  }
  while (!signal.aborted && (await deleteUsage(sql, days)) === USAGE_BATCH);
  if (incidents > 0) {
    await audit.append({ kind: 'retention.deleted', actor: 'system', details: { incidents, days } });
    log.info({ incidents, days }, 'the details of old incidents are deleted');
  }
  return incidents;
}

/**
 * One statement, so that an incident has all of its details or none. Its time of change stays: nothing is drawn anew for this. What
 * waits for people may go on: its messages stay known, or its thread would say all of it again.
 */
async function deleteBatch(sql: Sql, days: number): Promise<number> {
  const rows = await sql`
    WITH ended AS MATERIALIZED (
      SELECT id FROM incident
       WHERE state IN ('ignored', 'resolved') AND details_deleted_at IS NULL
         AND ended_at < statement_timestamp() - ${days} * interval '1 day'
         -- What may still run, or may have, is looked after.
         AND (SELECT a.id FROM action a WHERE a.incident_id = incident.id
                 AND a.state IN ('proposed', 'approved', 'started', 'unknown', 'queued') LIMIT 1) IS NULL
       ORDER BY ended_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    ), resting AS MATERIALIZED (
      SELECT id FROM incident
       WHERE state IN ('reported', 'escalated', 'stopped') AND details_deleted_at IS NULL
         AND opened_at < statement_timestamp() - ${days} * interval '1 day'
         AND updated_at < statement_timestamp() - ${days} * interval '1 day'
         AND (SELECT a.id FROM action a WHERE a.incident_id = incident.id
                 AND a.state IN ('proposed', 'approved', 'started', 'unknown', 'queued') LIMIT 1) IS NULL
       ORDER BY opened_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    ), ids AS MATERIALIZED (
      SELECT ARRAY(SELECT id FROM ended UNION ALL SELECT id FROM resting) AS old, ARRAY(SELECT id FROM ended) AS over),
    events AS (DELETE FROM event WHERE incident_id = ANY ((SELECT old FROM ids)::text[])
                  AND type NOT IN ('incident.opened', 'state.changed')),
    calls AS (DELETE FROM tool_call WHERE incident_id = ANY ((SELECT old FROM ids)::text[])),
    readings AS (DELETE FROM criterion_reading WHERE incident_id = ANY ((SELECT old FROM ids)::text[])),
    questions AS (DELETE FROM question WHERE incident_id = ANY ((SELECT old FROM ids)::text[])),
    failures AS (DELETE FROM turn_failure WHERE incident_id = ANY ((SELECT old FROM ids)::text[])),
    recalled AS (DELETE FROM memory_usage WHERE incident_id = ANY ((SELECT old FROM ids)::text[])),
    spent AS (DELETE FROM usage WHERE incident_id = ANY ((SELECT old FROM ids)::text[])),
    posts AS (DELETE FROM slack_post WHERE incident_id = ANY ((SELECT over FROM ids)::text[]) AND slot <> 'root'
                 OR incident_id = ANY (ARRAY(SELECT 'approvals:' || unnest(over) FROM ids)))
    UPDATE incident SET details_deleted_at = statement_timestamp()
     WHERE id = ANY ((SELECT old FROM ids)::text[]) RETURNING id`;
  return rows.length;
}

/** What was spent on no incident. */
async function deleteUsage(sql: Sql, days: number): Promise<number> {
  const rows = await sql`
    DELETE FROM usage WHERE id IN (
      SELECT id FROM usage WHERE incident_id IS NULL AND at < statement_timestamp() - ${days} * interval '1 day'
       ORDER BY at LIMIT ${USAGE_BATCH}) RETURNING id`;
  return rows.length;
}
