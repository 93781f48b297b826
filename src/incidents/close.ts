import { messageOf, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { isEnded, mayMove, nextWork } from '../core/machine.ts';
import type { ActionRow } from '../record/rows.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { InvestigationDeps } from './deps.ts';
import { moveIn } from './move.ts';
import type { Steered } from './steering.ts';

type CloseDeps = InvestigationDeps & { readonly audit: AuditLog };

/**
 * A person says that it is over: what waits for approval is void, who looks into it ends at once, and nothing is called fixed. If its
 * alert fires again, it goes on as after any other end.
 */
export async function closeIncident(
  deps: CloseDeps,
  incidentId: IncidentId,
  by: string,
  said: string,
): Promise<Steered> {
  const incident = await deps.records.incident(incidentId);
  if (!incident) return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
  if (isEnded(incident.state)) return refuse('ENDED', `${incidentId} is over already.`);
  if (!mayMove(incident.state, 'resolved'))
    return refuse('FIX_RUNS', 'The approved fix is running; it ends within its time limit. Close it then.');
  const reason = deps.redact(said).trim();
  const { moved, runsBeside } = await deps.sql.begin(async (tx) => {
    // In the ledger's order: the actions' rows, then the incident's. What a person asked for beside it is a word of its own.
    const open = await tx<Pick<ActionRow, 'id'>>`
      SELECT id FROM action WHERE incident_id = ${incidentId} AND state IN ('proposed', 'approved')
         AND NOT audit_only AND NOT beside ORDER BY id FOR UPDATE`;
    const outcome = await moveIn(tx, deps, incident, {
      from: incident.state,
      to: 'resolved',
      reason: 'A person says it is over.',
      key: `close:${Date.now()}`,
      changes: { nextStep: null, resolvedBy: 'person', closedBy: by },
      events: [{ type: 'incident.closed', by, reason }],
      turnAfterMs: null,
    });
    if (outcome !== 'moved') return { moved: outcome, runsBeside: false };
    // What was proposed between the two has no lock of ours, and is open all the same.
    const since = await tx<Pick<ActionRow, 'id'>>`
      SELECT id FROM action WHERE incident_id = ${incidentId} AND state = 'proposed' AND NOT audit_only AND NOT beside
         AND id <> ALL (${tx.array(open.map(({ id }) => id))}::text[])`;
    for (const { id } of [...open, ...since])
      await deps.approvals.void(tx, { id, incidentId }, 'The incident was closed before it ran.');
    await deps.audit.appendIn(tx, { kind: 'incident.closed', actor: by, incidentId, details: { reason } });
    const begun = await tx`
      SELECT FROM action WHERE incident_id = ${incidentId} AND beside AND NOT audit_only AND state = 'started'`;
    return { moved: outcome, runsBeside: begun.length > 0 };
  });
  // It has moved on in between. Whoever closes it closes it where it is now.
  if (moved !== 'moved') return closeIncident(deps, incidentId, by, said);
  await rememberEnd(deps, incidentId);
  const ends = [
    ...(isLookedInto(incident) ? ['I stop looking into it.'] : []),
    ...(runsBeside ? ['What had begun ends within its time limit.'] : []),
  ];
  const text = [`${incidentId} is closed.`, ...ends, 'If its alert fires again, I look into it again.'];
  return { ok: true, text: text.join(' ') };
}

const isLookedInto = ({ state }: Incident): boolean =>
  ['triage', 'diagnose', 'plan', 'verify'].includes(nextWork(state));

/** Memory is brought up to date as after any end; that it is closed does not hang on it. */
async function rememberEnd({ records, memory, log }: CloseDeps, id: IncidentId): Promise<void> {
  try {
    const record = await records.load(id);
    if (record) await memory.rememberIncident(record);
  } catch (error) {
    log.warn({ incident: id, error: messageOf(error) }, 'the end of an incident was not remembered');
  }
}
