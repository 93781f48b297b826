import type { Action } from '../domain/action.ts';
import { asActionId, type IncidentId } from '../domain/ids.ts';
import type { Tx } from '../domain/sql.ts';
import type { InvestigationDeps } from './deps.ts';

/** A plan that has not begun, found where no incident waits for it: a turn died after it had proposed. An undo has a turn of its own. */
export function isLeftover({ state, auditOnly, undoes }: Action): boolean {
  return (state === 'proposed' || state === 'approved') && !auditOnly && undoes === null;
}

/** Nobody shall approve, and nothing shall run, what no plan stands behind. What may have begun is not withdrawn. */
export async function withdrawLeftovers(
  tx: Tx,
  { approvals }: Pick<InvestigationDeps, 'approvals'>,
  incidentId: IncidentId,
): Promise<void> {
  const rows = await tx`
    SELECT id FROM action WHERE incident_id = ${incidentId} AND state IN ('proposed', 'approved')
       AND NOT audit_only AND undoes IS NULL`;
  for (const row of rows)
    await approvals.void(
      tx,
      { id: asActionId(String(row['id'])), incidentId },
      'No plan stands behind it any more.',
    );
}
