import type { Action } from '../../core/action.ts';
import type { Refusal } from '../../core/errors.ts';
import type { Tx } from '../../core/sql.ts';
import type { ApprovalSeal } from '../../safety/vault/approval-seal.ts';
import { BY_POLICY, mayRunUnasked, unaskedBy } from '../policy/autonomy.ts';
import type { Demands } from '../policy/rule.ts';
import type { ApprovalDeps } from './approvals.ts';
import { denialsOf } from './denials.ts';
import { signApproval } from './signed-approval.ts';

/**
 * The approval of a rule, in place of a person's and on the same way: a row, an entry in the audit log, a turn. Everything
 * that earned it is looked at again. When it no longer holds, the card asks like any other. Returns whether it approved.
 */
export async function approveEarned(
  { sql, records, policy, audit, seal }: ApprovalDeps,
  action: Action,
): Promise<boolean> {
  const steps = await records.plan(action.planId);
  const asked = await Promise.all(steps.map((step) => policy.demands(step)));
  const { id, incidentId, planHash, target, identity } = action;
  return sql.begin(async (tx) => {
    await tx`SET LOCAL synchronous_commit = on`;
    // One at a time for a tool on a target: two must not both be the last that the rule lets.
    for (const tool of [...new Set(steps.map((step) => step.tool))].toSorted())
      await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`unasked ${tool} ${identity ?? target}`}, 0))`;
    for (const [at, step] of steps.entries())
      if (!(await isEarned(tx, seal, step, asked[at]))) return askAgain(tx, action);
    const [first] = asked;
    const { rule, autonomy } = !first || 'ok' in first ? { rule: null, autonomy: null } : first;
    const reason = `rule “${rule}”: ${autonomy?.after} approved successes of ${action.runbookId} in a row`;
    const rows = await tx`
      UPDATE action SET state = 'approved', decided_by = ${BY_POLICY}, decided_at = clock_timestamp(), decision_reason = ${reason}
       WHERE id = ${id} AND state = 'proposed' AND plan_hash = ${planHash} AND NOT audit_only
         AND autonomous_at <= clock_timestamp() AND expires_at > clock_timestamp()
         AND NOT EXISTS (
               SELECT FROM incident i WHERE i.id = incident_id AND (i.state IN ('stopped', 'resolved', 'ignored') OR i.round > action.round))
      RETURNING id`;
    if (rows.length === 0) return false;
    await records.append(tx, incidentId, { type: 'action.approved', actionId: id, by: BY_POLICY });
    await tx`SELECT sentry_enqueue_turn(${incidentId}, 'decided')`;
    const seq = await audit.appendIn(tx, {
      kind: 'approval.decided',
      actor: BY_POLICY,
      incidentId,
      details: {
        action: id,
        decision: 'approve',
        planHash,
        reason,
        rule,
        ...(await signApproval(tx, seal, action, BY_POLICY)),
      },
    });
    await tx`UPDATE action SET approval_seq = ${seq} WHERE id = ${id}`;
    return true;
  });
}

async function isEarned(
  tx: Tx,
  seal: ApprovalSeal,
  step: Action,
  demands: Demands | Refusal | undefined,
): Promise<boolean> {
  const autonomy = !demands || 'ok' in demands ? null : unaskedBy(demands, new Date());
  // Nothing runs by itself over a person's No, shown on the card or said since.
  if (!autonomy || step.denialsAcknowledged.length > 0 || (await denialsOf(tx, step)).length > 0)
    return false;
  return mayRunUnasked({ tx, seal }, step, autonomy);
}

/** The card no longer says that it runs by itself. */
async function askAgain(tx: Tx, { id, incidentId }: Action): Promise<false> {
  const rows = await tx`
    UPDATE action SET autonomous_at = NULL
     WHERE id = ${id} AND state = 'proposed' AND autonomous_at <= clock_timestamp() RETURNING id`;
  if (rows.length > 0) await tx`UPDATE incident SET updated_at = clock_timestamp() WHERE id = ${incidentId}`;
  return false;
}
