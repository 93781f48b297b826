import { FORGOTTEN } from '../../core/forgotten.ts';
import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { Domain, Incident, IncidentState, Verdict } from '../../core/incident.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import { type Audiences, toldOf } from '../audiences.ts';
import { readFacts } from '../systems/system-facts.ts';
import { type Cluster, clustersOf, type PastCase } from './clusters.ts';
import { endOf } from './incident-end.ts';

/** So many of one alert, and of one kind on one target, are looked at, newest first. */
const MOST = 300;

export interface ClusterQuery {
  readonly domain: Domain;
  /** What a search has found; ids that are no incident of the domain are passed over. */
  readonly ids: readonly IncidentId[];
  /** In whose thread it is told; no memory of itself. Null: an operator is told. */
  readonly here: IncidentId | null;
  /** Who alone is told; undefined: whoever reads the thread. */
  readonly asker?: string | undefined;
}

/**
 * The problems that were found, each with all incidents that are alike and may be told, from the record: what the search
 * index or the vector database says of an incident beside its id is not looked at. Newest first.
 */
export async function toldClusters(
  deps: { readonly sql: Sql; readonly audiences: Audiences; readonly log: Log },
  query: ClusterQuery,
): Promise<readonly Cluster[]> {
  const cases = await loadCases(deps.sql, query);
  const told = await toldOf(
    deps,
    query.here,
    cases.map(({ id }) => id),
    query.asker,
  );
  return clustersOf(cases.filter(({ id }) => told.ids.has(id)));
}

async function loadCases(sql: Sql, { domain, ids, here }: ClusterQuery): Promise<readonly PastCase[]> {
  if (ids.length === 0) return [];
  const rows = await sql<Row>`
    WITH found AS (
      SELECT id, fingerprint, target, incident_type FROM incident
       WHERE domain = ${domain} AND id IN (SELECT jsonb_array_elements_text(${sql.json(ids)}))),
    alike AS (
      SELECT id FROM found
      UNION
      SELECT same.id FROM (SELECT DISTINCT fingerprint FROM found) f CROSS JOIN LATERAL (
        SELECT id FROM incident i WHERE i.fingerprint = f.fingerprint AND i.domain = ${domain}
           AND i.state NOT IN ('open', 'triaging', 'diagnosing')
         ORDER BY i.opened_at DESC LIMIT ${MOST}) same
      UNION
      SELECT same.id FROM (SELECT DISTINCT target, incident_type FROM found) f CROSS JOIN LATERAL (
        SELECT id FROM incident i
         WHERE i.domain = ${domain} AND i.target = f.target AND i.incident_type = f.incident_type
           AND i.state NOT IN ('open', 'triaging', 'diagnosing')
         ORDER BY i.opened_at DESC LIMIT ${MOST}) same)
    SELECT i.id, i.title, i.alert_name, coalesce(i.incident_type, nullif(e.metadata->>'incident_type', '')) AS incident_type, i.target, i.severity, i.fingerprint, i.cause, i.state, i.verdict,
           i.resolved_by, i.opened_at, i.updated_at, e.body AS text,
           e.metadata->>'system_fingerprint' AS system,
           (SELECT coalesce(jsonb_agg(jsonb_build_object('command', t.command, 'success', t.success) ORDER BY t.at), '[]')
              FROM episode t WHERE t.incident_id = i.id) AS tried,
           (SELECT coalesce(jsonb_agg(g.answer), '[]') FROM grade g WHERE g.incident_id = i.id) AS grades,
           (SELECT count(*) > 0 AND 2 * count(*) FILTER (WHERE NOT g.answer) >= count(*)
              FROM grade g WHERE g.incident_id = i.id AND g.question = 'cause_right') AS is_cause_wrong
      FROM alike JOIN incident i USING (id)
      LEFT JOIN search_space s ON s.name = ${`incident:${domain}`}
      LEFT JOIN search_entry e ON e.space_id = s.id AND e.key = i.id
     WHERE i.state <> 'ignored' AND i.title <> ${FORGOTTEN} AND i.id <> ${here ?? ''}
     ORDER BY i.opened_at DESC, i.id DESC`;
  return rows.map(toCase);
}

interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly title: string;
  readonly alert_name: string | null;
  readonly incident_type: string | null;
  readonly target: string | null;
  readonly severity: string;
  readonly fingerprint: string;
  readonly cause: string | null;
  readonly state: IncidentState;
  readonly verdict: Verdict | null;
  readonly resolved_by: Incident['resolvedBy'];
  readonly opened_at: string;
  readonly updated_at: string;
  readonly text: string | null;
  readonly system: string | null;
  readonly tried: PastCase['tried'];
  readonly grades: PastCase['grades'];
  readonly is_cause_wrong: boolean;
}

function toCase(row: Row): PastCase {
  const { title, target, severity, fingerprint, cause, state, verdict, text, system, tried, grades } = row;
  return {
    id: asIncidentId(row.id),
    title,
    alertName: row.alert_name,
    incidentType: row.incident_type,
    target,
    severity,
    fingerprint,
    cause,
    end: endOf({ state, verdict, resolvedBy: row.resolved_by }),
    openedAt: row.opened_at,
    updatedAt: row.updated_at,
    tried,
    grades,
    isCauseWrong: row.is_cause_wrong,
    text,
    system: system === null ? null : readFacts(JSON.parse(system)),
  };
}
