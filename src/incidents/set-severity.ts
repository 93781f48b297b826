import { type Severity, severities } from '../core/alert.ts';
import { refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { isEnded } from '../core/machine.ts';
import type { Tx } from '../core/sql.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { InvestigationDeps } from './deps.ts';
import type { Steered } from './steering.ts';

type SeverityDeps = Pick<InvestigationDeps, 'sql' | 'records'> & { readonly audit: AuditLog };

/** A person says how bad it is. Their word holds until something worse is told than what they saw; see the migration. */
export async function setSeverity(
  { sql, records, audit }: SeverityDeps,
  incidentId: IncidentId,
  by: string,
  to: Severity,
): Promise<Steered> {
  return sql.begin(async (tx) => {
    const [row] = await tx<Pick<Incident, 'state' | 'severity'> & { readonly seen: Severity }>`
      SELECT state, severity, coalesce(severity_seen, severity) AS seen FROM incident WHERE id = ${incidentId} FOR UPDATE`;
    if (!row) return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
    if (isEnded(row.state)) return refuse('ENDED', `${incidentId} is over: its severity stays as it was.`);
    const from = row.severity;
    if (from === to) return { ok: true, text: `${incidentId} is ${to} already.` };
    const worse = await worsePart(tx, incidentId, to);
    if (worse)
      return refuse(
        'PART_IS_WORSE',
        `${worse.id} is a part of it, and ${worse.severity}: change or split that first.`,
      );
    // First without the word that holds: a trigger would keep it.
    await tx`UPDATE incident SET severity_seen = NULL WHERE id = ${incidentId} AND severity_seen IS NOT NULL`;
    await tx`
      UPDATE incident SET severity = ${to}, severity_seen = sentry_worse_severity(${row.seen}, ${to}),
             updated_at = clock_timestamp() WHERE id = ${incidentId}`;
    await records.append(tx, incidentId, { type: 'severity.changed', from, to, by });
    await audit.appendIn(tx, {
      kind: 'incident.severity_changed',
      actor: by,
      incidentId,
      details: { from, to },
    });
    return { ok: true, text: `${incidentId} is ${to} now; it was ${from}.` };
  });
}

/** What rests under it is called for by it, and must not be called for as less. */
async function worsePart(tx: Tx, id: IncidentId, to: Severity) {
  const parts = await tx<Pick<Incident, 'id' | 'severity'>>`
    SELECT id, severity FROM incident
     WHERE merged_into = ${id} AND source_resolved_at IS NULL AND state NOT IN ('ignored', 'resolved')`;
  return parts.find(({ severity }) => severities.indexOf(severity) < severities.indexOf(to));
}
