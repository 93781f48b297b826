import { type Refusal, refuse } from '../domain/errors.ts';
import type { ActionId } from '../domain/ids.ts';
import type { Sql } from '../domain/sql.ts';
import type { IncidentRecords } from '../record/record.ts';
import type { AuditLog } from '../security/audit-chain.ts';

/**
 * An action whose outcome nobody knows blocks its target. When looking cannot tell, a person who has looked says whether
 * it ran; it is never run again by this. Only after its claim has run out.
 */
export async function settleByHand(
  deps: { readonly sql: Sql; readonly records: IncidentRecords; readonly audit: AuditLog },
  settlement: {
    readonly actionId: ActionId;
    readonly ran: boolean;
    readonly by: string;
    readonly reason: string;
  },
): Promise<{ readonly ok: true } | Refusal> {
  const { actionId, ran, by, reason } = settlement;
  const outcome = ran ? 'succeeded' : 'failed';
  const text = `Settled by ${by}: it ${ran ? 'ran' : 'did not run'}. ${reason}`.trim();
  const settled = await deps.sql.begin(async (tx) => {
    const [row] = await tx`
      UPDATE action SET state = ${outcome}, outcome = ${text}, finished_at = clock_timestamp()
      WHERE id = ${actionId} AND done_by < clock_timestamp() AND state IN ('started', 'unknown')
      RETURNING incident_id`;
    const action = await deps.records.action(actionId);
    if (!row || !action) return false;
    await deps.records.append(
      tx,
      action.incidentId,
      { type: 'action.finished', actionId, outcome, text },
      `settled:${actionId}`,
    );
    await deps.audit.appendIn(tx, {
      kind: 'action.settled',
      actor: by,
      incidentId: action.incidentId,
      details: { action: actionId, outcome, reason },
    });
    return true;
  });
  if (settled) return { ok: true };
  const action = await deps.records.action(actionId);
  if (!action) return refuse('UNKNOWN_ACTION', `There is no action ${actionId}.`);
  return refuse(
    'NOT_UNKNOWN',
    `${actionId} is ${action.state}: there is nothing to settle, or it may still be running.`,
  );
}
