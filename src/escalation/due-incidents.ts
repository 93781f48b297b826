import type { IncidentId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';

export const SWEEP_LIMIT = 200;

/** What only says more (another alert, words of a model) waits so long: nothing of it calls anybody. */
const AGAIN_SECONDS = 20;

/**
 * The worst and the oldest first: what is due, what has changed since the last look, and what is over and has an open page. `whole`: of all that is open, and not only
 * of what changed in the last minutes.
 */
export async function dueIncidents(sql: Sql, whole: boolean): Promise<readonly IncidentId[]> {
  const rows = await sql<{ readonly id: IncidentId }>`
    WITH changed AS (
      SELECT id FROM incident WHERE updated_at > statement_timestamp() - interval '10 minutes'
      UNION SELECT id FROM incident WHERE ${whole} AND state NOT IN ('ignored', 'resolved')
    ), due AS (
      SELECT i.id FROM changed CROSS JOIN LATERAL (
          SELECT id, state, updated_at, state || ' ' || severity || ' ' || round AS standing FROM incident
           WHERE id = changed.id LIMIT 1) i
        LEFT JOIN LATERAL (SELECT seen_at, seen, looked_at FROM escalation WHERE incident_id = changed.id LIMIT 1) e ON true
       WHERE i.state NOT IN ('ignored', 'resolved') AND (e.seen IS DISTINCT FROM i.standing
          OR e.seen_at IS DISTINCT FROM i.updated_at
             AND e.looked_at < statement_timestamp() - make_interval(secs => ${AGAIN_SECONDS}))
      UNION SELECT incident_id FROM escalation WHERE next_at <= statement_timestamp()
      UNION SELECT p.incident_id FROM escalation_page p
        CROSS JOIN LATERAL (SELECT state FROM incident WHERE id = p.incident_id LIMIT 1) i
       WHERE p.want <> 'resolve' AND i.state IN ('ignored', 'resolved', 'stopped')
    )
    SELECT due.id FROM due CROSS JOIN LATERAL (SELECT severity, opened_at FROM incident WHERE id = due.id LIMIT 1) i
     ORDER BY array_position(ARRAY['critical', 'error', 'unknown', 'warning', 'info'], i.severity), i.opened_at
     LIMIT ${SWEEP_LIMIT}`;
  return rows.map(({ id }) => id);
}
