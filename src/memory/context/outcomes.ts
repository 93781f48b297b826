import type { Sql } from '../../core/sql.ts';
import type { PastCase } from '../past/clusters.ts';
import type { Outcomes } from '../ranking/trust-score.ts';

/** How a runbook did years ago says little, and much of it is read for every turn. */
const OF_LATE = 500;

/**
 * How often following a runbook of late, or what was done in an incident, led to a fix and how often it did not, by id. What
 * verification could not tell counts as neither; what people said of it afterwards (was the cause right, was it useful)
 * counts like a fix or a failure.
 */
export async function outcomesOf(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, Outcomes>> {
  if (ids.length === 0) return new Map();
  const wanted = sql.json(ids);
  const rows = await sql<{ id: string; worked: number; failed: number }>`
    WITH wanted AS (SELECT jsonb_array_elements_text(${wanted}) AS id),
    tried AS (
      SELECT w.id, (SELECT e.success FROM episode e WHERE e.action_id = a.id) AS success
        FROM wanted w CROSS JOIN LATERAL (
          SELECT id FROM action WHERE runbook_id = w.id ORDER BY proposed_at DESC LIMIT ${OF_LATE}) a
      UNION ALL
      SELECT e.incident_id, e.success FROM episode e WHERE e.incident_id IN (SELECT id FROM wanted)
      UNION ALL
      SELECT w.id, g.answer FROM wanted w CROSS JOIN LATERAL (
          SELECT answer FROM grade WHERE runbook_id = w.id LIMIT ${OF_LATE}) g
      UNION ALL
      SELECT g.incident_id, g.answer FROM grade g WHERE g.incident_id IN (SELECT id FROM wanted))
    SELECT id, count(*) FILTER (WHERE success)::int AS worked, count(*) FILTER (WHERE NOT success)::int AS failed
      FROM tried GROUP BY id`;
  return new Map(rows.map(({ id, worked, failed }) => [id, { worked, failed }]));
}

/** The same over all incidents of one problem; null when nobody knows. */
export function outcomesOfCases(cases: readonly PastCase[]): Outcomes | null {
  const answers = cases.flatMap(({ tried, grades }) => [...tried.map(({ success }) => success), ...grades]);
  const worked = answers.filter((answer) => answer === true).length;
  const failed = answers.filter((answer) => answer === false).length;
  return answers.length === 0 ? null : { worked, failed };
}
