import type { Action } from '../core/action.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Tx } from '../core/sql.ts';
import type { ActionRow } from '../record/rows.ts';
import type { InvestigationDeps } from './deps.ts';

/** A plan that has not begun, found where no incident waits for it: a turn died after it had proposed. What runs beside has a turn of its own. */
export function isLeftover({ state, auditOnly, beside }: Action): boolean {
  return (state === 'proposed' || state === 'approved') && !auditOnly && !beside;
}

/** Nobody shall approve, and nothing shall run, what no plan stands behind. What may have begun is not withdrawn. */
export async function withdrawLeftovers(
  tx: Tx,
  { approvals }: Pick<InvestigationDeps, 'approvals'>,
  incidentId: IncidentId,
): Promise<void> {
  const rows = await tx<Pick<ActionRow, 'id'>>`
    SELECT id FROM action WHERE incident_id = ${incidentId} AND state IN ('proposed', 'approved')
       AND NOT audit_only AND NOT beside`;
  for (const { id } of rows)
    await approvals.void(tx, { id, incidentId }, 'No plan stands behind it any more.');
}

/** The lasting fix that waits for its decision or its run, locked. */
export async function lockLastingFix(tx: Tx, incidentId: IncidentId): Promise<readonly Waiting[]> {
  const rows = await tx<Pick<ActionRow, 'id'>>`
    SELECT id FROM action WHERE incident_id = ${incidentId} AND beside AND undoes IS NULL
       AND state IN ('proposed', 'approved') ORDER BY id FOR UPDATE`;
  return rows.map(({ id }) => ({ id, incidentId }));
}

type Waiting = Pick<Action, 'id' | 'incidentId'>;

/** The plan that waits for its decision or its run, locked. */
export async function lockOpenPlan(tx: Tx, incidentId: IncidentId): Promise<readonly Waiting[]> {
  const rows = await tx<Pick<ActionRow, 'id'>>`
    SELECT id FROM action WHERE incident_id = ${incidentId} AND NOT beside AND NOT audit_only
       AND state IN ('proposed', 'approved') ORDER BY id FOR UPDATE`;
  return rows.map(({ id }) => ({ id, incidentId }));
}

/** What was asked for rests on the diagnosis that is looked at again. */
export async function withdrawOpenPlan(
  tx: Tx,
  { approvals }: Pick<InvestigationDeps, 'approvals'>,
  waiting: readonly Waiting[],
): Promise<void> {
  for (const each of waiting)
    await approvals.void(tx, each, 'The cause is looked for again; what still helps is asked for anew.');
}

export async function withdrawLastingFix(
  tx: Tx,
  { approvals }: Pick<InvestigationDeps, 'approvals'>,
  waiting: readonly Waiting[],
  because: string,
): Promise<void> {
  for (const each of waiting) await approvals.void(tx, each, `It is not fixed any more: ${because}`);
}
