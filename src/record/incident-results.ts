import type { Sql } from '../core/sql.ts';

/** How one investigated incident went, as far as it is on record. */
export type IncidentResult = {
  readonly id: string;
  readonly title: string;
  readonly kind: string | null;
  readonly runbook: string | null;
  readonly investigator: string | null;
  /** Of its last diagnosis. */
  readonly verdict: string;
  /** Of its last verification. */
  readonly outcome: string | null;
  readonly costUsd: number;
  /** From the alert to the first diagnosis. */
  readonly diagnosedMs: number;
  readonly rightYes: number;
  readonly rightNo: number;
  readonly usefulYes: number;
  readonly usefulNo: number;
};

/** The incidents that were diagnosed, newest first. */
export async function incidentResults(sql: Sql, limit: number): Promise<readonly IncidentResult[]> {
  return sql<IncidentResult>`
    SELECT i.id, i.title, i.incident_type AS kind, last.diagnosis->>'runbookId' AS runbook, i.investigator,
           last.diagnosis->>'verdict' AS verdict, i.verdict AS outcome, i.cost_usd AS "costUsd",
           round(1000 * extract(epoch FROM first.at - i.opened_at))::float8 AS "diagnosedMs",
           g.right_yes AS "rightYes", g.right_no AS "rightNo", g.useful_yes AS "usefulYes", g.useful_no AS "usefulNo"
      FROM incident i
      JOIN LATERAL (SELECT at FROM event WHERE incident_id = i.id AND type = 'diagnosis.concluded'
                     ORDER BY seq LIMIT 1) first ON true
      JOIN LATERAL (SELECT body->'diagnosis' AS diagnosis FROM event
                     WHERE incident_id = i.id AND type = 'diagnosis.concluded' ORDER BY seq DESC LIMIT 1) last ON true
      JOIN LATERAL (SELECT count(*) FILTER (WHERE question = 'cause_right' AND answer)::int AS right_yes,
                           count(*) FILTER (WHERE question = 'cause_right' AND NOT answer)::int AS right_no,
                           count(*) FILTER (WHERE question = 'useful' AND answer)::int AS useful_yes,
                           count(*) FILTER (WHERE question = 'useful' AND NOT answer)::int AS useful_no
                      FROM grade WHERE incident_id = i.id) g ON true
     ORDER BY i.opened_at DESC LIMIT ${limit}`;
}
