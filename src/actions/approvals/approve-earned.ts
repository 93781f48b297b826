import type { Action } from '../../core/action.ts';
import type { Refusal } from '../../core/errors.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import { BY_POLICY, earned, mayRunUnasked, unaskedBy } from '../policy/autonomy.ts';
import type { ApprovalPolicy } from '../policy/policy.ts';
import type { Demands } from '../policy/rule.ts';
import { denialsOf } from './denials.ts';

interface Deps {
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly policy: ApprovalPolicy;
  readonly audit: AuditLog;
}

/**
 * The approval of a rule, in place of a person's and on the same way: a row, an entry in the audit log, a turn. Everything
 * that earned it is looked at again. When it no longer holds, the card asks like any other. Returns whether it approved.
 */
export async function approveEarned({ sql, records, policy, audit }: Deps, action: Action): Promise<boolean> {
  const steps = await records.plan(action.planId);
  const asked = await Promise.all(steps.map((step) => policy.demands(step)));
  const { id, incidentId, planHash, target, identity } = action;
  return sql.begin(async (tx) => {
    await tx`SET LOCAL synchronous_commit = on`;
    // One at a time for a tool on a target: two must not both be the last that the rule lets.
    for (const tool of [...new Set(steps.map((step) => step.tool))].toSorted())
      await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`unasked ${tool} ${identity ?? target}`}, 0))`;
    for (const [at, step] of steps.entries())
      if (!(await isEarned(tx, step, asked[at]))) return askAgain(tx, action);
    const [first] = asked;
    const rule = !first || 'ok' in first ? null : first.rule;
    const reason = `rule “${rule}”: ${await earned(tx, action)} approved successes of ${action.runbookId} in a row`;
    const rows = await tx`
      UPDATE action SET state = 'approved', decided_by = ${BY_POLICY}, decided_at = clock_timestamp(), decision_reason = ${reason}
       WHERE id = ${id} AND state = 'proposed' AND plan_hash = ${planHash} AND NOT audit_only
         AND autonomous_at <= clock_timestamp() AND expires_at > clock_timestamp()
         AND NOT EXISTS (SELECT FROM incident i WHERE i.id = incident_id AND i.state = 'stopped') RETURNING id`;
    if (rows.length === 0) return false;
    await records.append(tx, incidentId, { type: 'action.approved', actionId: id, by: BY_POLICY });
    await tx`SELECT sentry_enqueue_turn(${incidentId}, 'decided')`;
    const seq = await audit.appendIn(tx, {
      kind: 'approval.decided',
      actor: BY_POLICY,
      incidentId,
      details: { action: id, decision: 'approve', planHash, reason, rule },
    });
    await tx`UPDATE action SET approval_seq = ${seq} WHERE id = ${id}`;
    return true;
  });
}

async function isEarned(tx: Tx, step: Action, demands: Demands | Refusal | undefined): Promise<boolean> {
  const autonomy = !demands || 'ok' in demands ? null : unaskedBy(demands, new Date());
  // Nothing runs by itself over a person's No, shown on the card or said since.
  if (!autonomy || step.denialsAcknowledged.length > 0 || (await denialsOf(tx, step)).length > 0)
    return false;
  return mayRunUnasked(tx, step, autonomy);
}

/** The card no longer says that it runs by itself. */
async function askAgain(tx: Tx, { id, incidentId }: Action): Promise<false> {
  const rows = await tx`
    UPDATE action SET autonomous_at = NULL
     WHERE id = ${id} AND state = 'proposed' AND autonomous_at <= clock_timestamp() RETURNING id`;
  if (rows.length > 0) await tx`UPDATE incident SET updated_at = clock_timestamp() WHERE id = ${incidentId}`;
  return false;
}
