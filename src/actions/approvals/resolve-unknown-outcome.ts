import { type Refusal, refuse } from '../../core/errors.ts';
import type { ActionId } from '../../core/ids.ts';
import type { Sql } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import type { ApprovalPolicy } from '../policy/policy.ts';

/**
 * An action whose outcome nobody knows blocks its target. When looking cannot tell, a person who has looked says whether
 * it ran; it is never run again by this. Only after its claim has run out.
 */
export async function resolveUnknownOutcome(
  deps: { readonly sql: Sql; readonly records: IncidentRecords; readonly audit: AuditLog },
  settlement: {
    readonly actionId: ActionId;
    readonly ran: boolean;
    readonly by: string;
    /** For people, where `by` is an id. */
    readonly name?: string;
    readonly reason: string;
  },
): Promise<{ readonly ok: true } | Refusal> {
  const { actionId, ran, by, name = by, reason } = settlement;
  const outcome = ran ? 'succeeded' : 'failed';
  const text = `Settled by ${name}: it ${ran ? 'ran' : 'did not run'}. ${reason}`.trim();
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
    // What follows from what ran beside is its turn's, whoever says that it ran.
    if (action.beside) await tx`SELECT sentry_enqueue_turn(${action.incidentId}, 'undo')`;
    // Settled before its own turn came to look: that one finds nothing to look at, and goes on to verify.
    await tx`SELECT sentry_enqueue_turn(id, 'settled') FROM incident WHERE id = ${action.incidentId} AND state = 'remediating'`;
    return true;
  });
  if (settled) return { ok: true };
  const action = await deps.records.action(actionId);
  if (!action) return refuse('UNKNOWN_ACTION', `There is no action ${actionId}.`);
  return refuse(
    'NOT_UNKNOWN',
    'It is known already whether it ran, or it may still be running: look at its card.',
  );
}

/** The same by a click on its card: for whoever may decide on such an action there. */
export async function settleByClick(
  deps: Parameters<typeof resolveUnknownOutcome>[0] & { readonly policy: Pick<ApprovalPolicy, 'mayDecide'> },
  click: {
    readonly actionId: ActionId;
    /** Of the card that was seen. */
    readonly planHash: string;
    readonly by: string;
    readonly name: string;
    readonly ran: boolean;
  },
): Promise<{ readonly ok: true } | Refusal> {
  const settled = await settleIfMay();
  if (!settled.ok)
    await deps.audit.append({
      kind: 'action.settle_refused',
      actor: click.by,
      details: { action: click.actionId, ran: click.ran, code: settled.code },
    });
  return settled;

  async function settleIfMay(): Promise<{ readonly ok: true } | Refusal> {
    const action = await deps.records.action(click.actionId);
    const incident = action && (await deps.records.incident(action.incidentId));
    if (!action || !incident) return refuse('UNKNOWN_ACTION', 'This card is not on record any more.');
    if (action.planHash !== click.planHash)
      return refuse('PLAN_CHANGED', 'This is not the action that the card shows. Nothing was settled.');
    const mayNot = await deps.policy.mayDecide(click.by, action, incident, 'deny');
    return mayNot ?? resolveUnknownOutcome(deps, { ...click, reason: 'Seen on the target.' });
  }
}
