import type { IncidentId } from '../../core/ids.ts';
import type { Sql } from '../../core/sql.ts';
import type { ApprovalsId } from './subject.ts';

/** Null while one of its proposals waits or runs: its lines are looked at again until all of them are decided. */
export async function approvalsMark(sql: Sql, id: ApprovalsId): Promise<string | null> {
  const incidentId = id.slice('approvals:'.length);
  const [row] = await sql<{ readonly waits: boolean; readonly mark: string }>`
    SELECT coalesce(bool_or(state IN ('proposed', 'approved', 'started')), false) AS waits,
           coalesce(string_agg(xmin::text, ',' ORDER BY id), 'none') AS mark
      FROM action WHERE incident_id = ${incidentId}`;
  return row && !row.waits ? row.mark : null;
}

export async function hasProposal(sql: Sql, id: IncidentId): Promise<boolean> {
  const [row] = await sql<{ readonly has: boolean }>`
    SELECT EXISTS (SELECT FROM action WHERE incident_id = ${id}) AS has`;
  return row?.has === true;
}

/** Of what waits or runs now, and of what was begun to be drawn and has not come to its end. */
export async function undrawnApprovals(sql: Sql): Promise<readonly ApprovalsId[]> {
  const rows = await sql<{ readonly id: ApprovalsId }>`
    SELECT 'approvals:' || incident_id AS id FROM action WHERE state IN ('proposed', 'approved', 'started')
    UNION SELECT incident_id FROM slack_lease WHERE drawn_mark = '' AND incident_id LIKE 'approvals:%'`;
  return rows.map(({ id }) => id);
}
