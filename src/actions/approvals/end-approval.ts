import type { Action } from '../../core/action.ts';
import type { ActionId } from '../../core/ids.ts';
import type { Tx } from '../../core/sql.ts';
import type { ActionRow } from '../../record/rows.ts';
import { redact } from '../../safety/screen/redact.ts';
import type { ApprovalDeps } from './approvals.ts';

/** Takes an undecided or unrun approval back; false when it was too late. */
export async function voidAction(
  tx: Tx,
  { records, audit }: Pick<ApprovalDeps, 'records' | 'audit'>,
  { id: actionId, incidentId }: Pick<Action, 'id' | 'incidentId'>,
  said: string,
): Promise<boolean> {
  const reason = redact(said);
  const rows = await tx`
    UPDATE action SET state = 'void', outcome = ${reason}, finished_at = clock_timestamp()
    WHERE id = ${actionId} AND state IN ('proposed', 'approved') RETURNING id`;
  if (rows.length === 0) return false;
  await records.append(tx, incidentId, { type: 'action.void', actionId, reason }, `void:${actionId}`);
  await audit.appendIn(tx, {
    kind: 'approval.void',
    actor: 'system',
    incidentId,
    details: { action: actionId, reason },
  });
  return true;
}

/** `Approvals.expire`. */
export function expire({ sql, records, audit }: ApprovalDeps, actionId: ActionId): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [row] = await tx<Pick<ActionRow, 'incident_id'>>`
      UPDATE action SET state = 'expired', finished_at = clock_timestamp()
      WHERE id = ${actionId} AND state IN ('proposed', 'approved') AND expires_at <= clock_timestamp() RETURNING incident_id`;
    if (!row) return false;
    const incidentId = row.incident_id;
    await records.append(tx, incidentId, { type: 'action.expired', actionId }, `expired:${actionId}`);
    await audit.appendIn(tx, {
      kind: 'approval.expired',
      actor: 'system',
      incidentId,
      details: { action: actionId },
    });
    return true;
  });
}
