import type { Action } from '../../core/action.ts';
import { type Denial, usualReach } from '../../core/denial.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import { isEnded } from '../../core/machine.ts';
import type { Tx } from '../../core/sql.ts';
import { storable } from '../../core/storable.ts';
import { addRequester } from '../../record/record.ts';
import type { ActionRow } from '../../record/rows.ts';
import { redact } from '../../safety/screen/redact.ts';
import { cannotTell, mayNotGive } from '../checks/approval-checks.ts';
import { BY_POLICY } from '../policy/autonomy.ts';
import { type PlanDemands, strictest } from '../policy/strictest.ts';
import type { ApprovalDeps, Decided, Decision } from './approvals.ts';
import { lockSystem, overtakenBy, recordDenial } from './denials.ts';
import { voidAction } from './end-approval.ts';
import { signApproval } from './signed-approval.ts';

type Asked = Omit<PlanDemands, 'expiresMinutes'> & {
  /** Who approved it before and may not any more: theirs does not count. */
  readonly struck: readonly string[];
};
/** A denial needs one person, whatever the policy says. */
const ANY: Asked = { approvals: 1, selfApproval: true, rule: null, struck: [] };
/** Of a reason for a decision: Slack's window takes 1,000 characters. */
const REASON_MAX = 2_000;

/** `Approvals.decide`. */
export async function decide(deps: ApprovalDeps, given: Decision): Promise<Decided> {
  const { records, audit } = deps;
  const decision = { ...given, reason: storable(redact(given.reason)).slice(0, REASON_MAX) };
  const refused = async (refusal: Refusal, incidentId?: string): Promise<Refusal> => {
    await audit.append({
      kind: 'approval.refused',
      actor: decision.by,
      ...(incidentId === undefined ? {} : { incidentId }),
      details: { action: decision.actionId, decision: decision.decision, code: refusal.code },
    });
    return refusal;
  };
  const action = await records.action(decision.actionId);
  if (!action)
    return refused(
      refuse('UNKNOWN_ACTION', 'This card is not on record any more. Ask `/sentry status` what is open.'),
    );
  const mayNot = await policyRefuses(deps, decision, action);
  if (mayNot) return refused(mayNot, action.incidentId);
  const demands = await demandsOf(deps, action);
  if ('ok' in demands && decision.decision === 'approve') return refused(demands, action.incidentId);
  const struck = await struckOff(deps, decision, action);
  if ('ok' in struck) return refused(struck, action.incidentId);
  if (await transition(deps, decision, action, 'ok' in demands ? ANY : { ...demands, struck }))
    return { ok: true, action: (await records.action(action.id)) ?? action };
  const now = (await records.action(action.id)) ?? action;
  // Still open: whoever pressed became its requester in between, or its time ran out.
  const meanwhile = now.state === 'proposed' ? await policyRefuses(deps, decision, now) : undefined;
  return refused(meanwhile ?? whyNot(now, decision), action.incidentId);
}

/** Who approves a plan may approve every step of it; who may deny one step may deny the plan. */
async function policyRefuses(
  { records, policy }: ApprovalDeps,
  { by, decision }: Decision,
  action: Action,
): Promise<Refusal | undefined> {
  const incident = await records.incident(action.incidentId);
  if (!incident) return refuse('UNKNOWN_ACTION', 'This card belongs to no incident on record.');
  const isOpen = action.state === 'proposed' || action.state === 'void';
  if (incident.state === 'stopped' && decision === 'approve' && isOpen && !action.beside) {
    const record = await records.load(incident.id);
    const stop = record?.events.findLast((event) => event.type === 'incident.stopped');
    const who = stop ? `<@${stop.by}>` : 'Somebody';
    return refuse(
      'INCIDENT_STOPPED',
      `${who} has stopped ${incident.id}: nothing of it is approved until somebody resumes it, and then I look again first. To go on: /sentry resume ${incident.id}`,
    );
  }
  if (
    decision === 'approve' &&
    action.state === 'proposed' &&
    !action.beside &&
    incident.round > action.round
  )
    return refuse(
      'LOOKED_AGAIN',
      'The cause has been looked for again since this was proposed, so it is not run. What still helps is asked for anew.',
    );
  if (isEnded(incident.state) && decision === 'approve' && action.state === 'proposed' && !action.beside)
    return refuse(
      'INCIDENT_ENDED',
      `${incident.id} is over, so this is not run. If the problem comes back, what helps then is asked for anew.`,
    );
  const refusals: Refusal[] = [];
  const steps = await records.plan(action.planId);
  const now = policy.asOfNow();
  for (const step of steps) {
    const refusal = await policy.mayDecide(by, step, incident, decision, now);
    if (refusal) refusals.push(refusal);
  }
  return decision === 'approve' || refusals.length === steps.length ? refusals[0] : undefined;
}

/** Who approved it before this press and may not any more; a refusal while nobody can tell. */
async function struckOff(
  { records, policy }: ApprovalDeps,
  { decision }: Decision,
  action: Action,
): Promise<readonly string[] | Refusal> {
  if (decision === 'deny' || action.approvedBy.length === 0) return [];
  const incident = await records.incident(action.incidentId);
  if (!incident) return refuse('UNKNOWN_ACTION', 'This card belongs to no incident on record.');
  const steps = await records.plan(action.planId);
  const now = policy.asOfNow();
  const struck: string[] = [];
  for (const who of action.approvedBy) {
    const mayNot = await mayNotGive(policy, who, steps, incident, now);
    if (mayNot && cannotTell(mayNot)) return mayNot;
    if (mayNot) struck.push(who);
  }
  return struck;
}

async function demandsOf(
  { records, policy }: ApprovalDeps,
  { planId }: Action,
): Promise<PlanDemands | Refusal> {
  const asked: PlanDemands[] = [];
  for (const step of await records.plan(planId)) {
    const demands = await policy.demands(step);
    if ('ok' in demands) return demands;
    asked.push(demands);
  }
  return strictest(asked);
}

/** One atomic transition from `proposed`; false when somebody was first or something has moved. */
async function transition(
  deps: ApprovalDeps,
  decision: Decision,
  action: Action,
  demands: Asked,
): Promise<boolean> {
  const { sql, records, audit, seal } = deps;
  const approve = decision.decision === 'approve';
  // Asked before: Slack may take its time to say who somebody is.
  const denied = approve ? [] : await theirsToDeny(deps, decision, action);
  return sql.begin(async (tx) => {
    await tx`SET LOCAL synchronous_commit = on`;
    // A denial and a claim on one system come one after the other: either it is seen there, or it was too late.
    if (!approve) await lockSystem(tx, action);
    if (demands.struck.length > 0)
      await tx`
        UPDATE action SET approved_by = array(
                 SELECT who FROM unnest(approved_by) who WHERE who <> ALL (${tx.array([...demands.struck])}::text[]))
         WHERE id = ${action.id} AND state = 'proposed'`;
    const [row] = await tx<Pick<ActionRow, 'state' | 'approvals_needed'> & { approved: number }>`
      UPDATE action a SET
             decided_by = CASE WHEN NOT ${approve}
                                 OR cardinality(approved_by) + 1 >= greatest(approvals_needed, ${demands.approvals})
                               THEN ${decision.by} END,
             decided_at = clock_timestamp(), decision_reason = ${decision.reason || null},
             approvals_needed = greatest(approvals_needed, ${demands.approvals}),
             approved_by = CASE WHEN ${approve} THEN approved_by || ${decision.by}::text ELSE approved_by END,
             state = CASE WHEN NOT ${approve} THEN 'denied'
                          WHEN cardinality(approved_by) + 1 >= greatest(approvals_needed, ${demands.approvals})
                          THEN 'approved' ELSE 'proposed' END
      WHERE id = ${action.id} AND state = 'proposed' AND plan_hash = ${decision.planHash}
        AND expires_at > clock_timestamp() AND NOT audit_only
        AND NOT (${approve} AND NOT a.beside AND EXISTS (
              SELECT FROM incident i WHERE i.id = a.incident_id AND (i.state IN ('stopped', 'resolved', 'ignored') OR i.round > a.round)))
        AND NOT (${approve} AND ${decision.by} = ANY (approved_by))
        AND NOT (${approve && !demands.selfApproval} AND EXISTS (
              SELECT FROM incident i WHERE i.id = a.incident_id AND ${decision.by} = ANY (i.requesters)))
      RETURNING state, approvals_needed, cardinality(approved_by) AS approved`;
    if (!row) return false;
    const isFinal = row.state !== 'proposed';
    await records.append(
      tx,
      action.incidentId,
      approve
        ? isFinal
          ? { type: 'action.approved', actionId: action.id, by: decision.by }
          : {
              type: 'action.seconded',
              actionId: action.id,
              by: decision.by,
              count: row.approved,
              needed: row.approvals_needed,
            }
        : {
            type: 'action.denied',
            actionId: action.id,
            by: decision.by,
            reason: decision.reason,
            anotherWay: decision.anotherWay,
          },
    );
    const denial = approve ? null : await deny(tx, deps, decision, action, denied);
    if (!approve && (decision.reason || decision.anotherWay))
      await addRequester(tx, action.incidentId, decision.by);
    if (isFinal)
      await tx`SELECT sentry_enqueue_turn(${action.incidentId}, ${action.beside ? 'undo' : 'decided'})`;
    const seq = await audit.appendIn(tx, {
      kind: 'approval.decided',
      actor: decision.by,
      incidentId: action.incidentId,
      details: {
        action: action.id,
        decision: decision.decision,
        planHash: decision.planHash,
        reason: decision.reason,
        ...(denial
          ? { denial: denial.id, scope: denial.scope, covers: denial.label, until: denial.until }
          : {}),
        ...(approve
          ? {
              count: row.approved,
              needed: row.approvals_needed,
              rule: demands.rule,
              ...(demands.struck.length > 0 ? { struck: demands.struck } : {}),
              ...(await signApproval(tx, seal, action, decision.by)),
            }
          : {}),
      },
    });
    // The gate reads the approvals there: what is set in this table alone is none.
    if (approve)
      await tx`UPDATE action SET approval_seq = ${seq}, approval_seqs = approval_seqs || ${seq}::bigint WHERE id = ${action.id}`;
    return true;
  });
}

/** Of a plan that is denied as a whole, the steps to which this person may say No: elsewhere it holds for these alone. */
async function theirsToDeny(
  { records, policy }: ApprovalDeps,
  { by }: Decision,
  action: Action,
): Promise<readonly Action[]> {
  const steps = await records.plan(action.planId);
  const incident = await records.incident(action.incidentId);
  if (incident === null || steps.length === 1) return steps;
  const now = policy.asOfNow();
  const theirs: Action[] = [];
  for (const step of steps) if (!(await policy.mayDecide(by, step, incident, 'deny', now))) theirs.push(step);
  return theirs;
}

/** The No itself, and what it overtakes in other incidents: they go back to planning, and ask with it on their card. */
async function deny(
  tx: Tx,
  deps: ApprovalDeps,
  { by, reason, reach }: Decision,
  action: Action,
  steps: readonly Action[],
): Promise<Denial> {
  const denial = await recordDenial(tx, action, steps, {
    by,
    reason,
    reach: reach ?? usualReach(steps.flatMap(({ objects }) => objects)),
  });
  for (const overtaken of await overtakenBy(tx, denial)) {
    await voidAction(
      tx,
      deps,
      overtaken,
      'Somebody has said no to what it touches; it is asked for again with that.',
    );
    await tx`SELECT sentry_enqueue_turn(${overtaken.incidentId}, ${overtaken.beside ? 'undo' : 'denied elsewhere'})`;
  }
  return denial;
}

function whyNot(action: Action, decision: Decision): Refusal {
  const who =
    action.decidedBy === BY_POLICY ? 'the policy' : action.decidedBy ? `<@${action.decidedBy}>` : 'somebody';
  if (action.auditOnly)
    return refuse(
      'AUDIT_ONLY',
      'Sentry is in AUDIT mode or stopped: this is what it would do, and it cannot be approved.',
    );
  if (action.planHash !== decision.planHash)
    return refuse('PLAN_CHANGED', 'The plan is no longer what this card shows. Nothing was run.');
  if (action.state === 'proposed' && action.approvedBy.includes(decision.by))
    return refuse(
      'APPROVED_ALREADY',
      `You have approved this already (${action.approvedBy.length} of ${action.approvalsNeeded}): somebody else has to.`,
    );
  switch (action.state) {
    case 'approved':
    case 'started':
    case 'succeeded':
    case 'failed':
    case 'unknown':
      return refuse('ALREADY_DECIDED', `Already approved by ${who}; your click changed nothing.`);
    case 'denied':
      return refuse('ALREADY_DECIDED', `Already denied by ${who}; your click changed nothing.`);
    case 'void':
      return refuse(
        'VOID',
        `This is void: ${action.outcome ?? 'the state moved since it was proposed'}. Nothing was run.`,
      );
    case 'queued':
    case 'skipped':
      return refuse('NOT_THE_PLAN', 'This is one step of a plan; the plan is decided on its first step.');
    case 'expired':
    case 'proposed':
      return refuse(
        'EXPIRED',
        'This approval has expired. Nothing was run; ask for a fresh look in the thread.',
      );
    default: {
      const never: never = action.state;
      return never;
    }
  }
}
