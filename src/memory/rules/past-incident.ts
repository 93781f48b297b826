import { FORGOTTEN } from '../../core/forgotten.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Domain } from '../../core/incident.ts';
import type { Tx } from '../../core/sql.ts';

/** What a rule is made from. */
export interface PastIncident {
  readonly id: IncidentId;
  readonly title: string;
  readonly alertName: string | null;
  readonly incidentType: string | null;
  readonly target: string | null;
  /** Null also where people said that it was wrong. */
  readonly cause: string | null;
  /** What was run, with whether it helped: null when nobody could tell. */
  readonly tried: readonly { readonly command: string; readonly success: boolean | null }[];
  readonly endedAt: string;
}

/** Of one compaction: a summary of more would be read by nobody. */
const MOST = 1_000;

/** Those of a domain that no compaction has looked back on, oldest first. What was forgotten or waved away is none. */
export async function pastIncidents(tx: Tx, domain: Domain): Promise<readonly PastIncident[]> {
  return tx<PastIncident>`
    SELECT i.id, i.title, i.alert_name AS "alertName", i.incident_type AS "incidentType", i.target, i.updated_at AS "endedAt",
           CASE WHEN EXISTS (SELECT FROM grade g WHERE g.incident_id = i.id AND g.question = 'cause_right'
                              HAVING 2 * count(*) FILTER (WHERE NOT g.answer) >= count(*) AND count(*) > 0) THEN NULL ELSE i.cause END AS cause,
           (SELECT coalesce(jsonb_agg(jsonb_build_object('command', e.command, 'success', e.success) ORDER BY e.at), '[]')
              FROM episode e WHERE e.incident_id = i.id) AS tried
      FROM incident i
     WHERE i.domain = ${domain} AND i.state IN ('resolved', 'reported', 'escalated') AND i.title <> ${FORGOTTEN}
       AND NOT EXISTS (SELECT FROM rule_compaction c WHERE c.domain = ${domain} AND c.incidents ? i.id)
     ORDER BY i.updated_at LIMIT ${MOST}`;
}
