import type { Action } from '../../core/action.ts';
import { isWithin } from '../../core/hours.ts';
import type { Verdict } from '../../core/incident.ts';
import type { Tx } from '../../core/sql.ts';
import { type ActionRow, toAction } from '../../record/rows.ts';
import type { ApprovalSeal } from '../../safety/vault/approval-seal.ts';
import { readApprovals } from '../approvals/signed-approval.ts';
import { planHash } from '../proposals/plan-hash.ts';
import type { Autonomy, Demands } from './rule.ts';

/** Who approves in the name of a rule; no Slack user has such an id. */
export const BY_POLICY = 'policy';

/** What is needed to tell what a person has approved. */
interface Deps {
  readonly tx: Tx;
  readonly seal: ApprovalSeal;
}

/** What autonomy is asked for. */
type Asked = Pick<Action, 'planId' | 'tool' | 'target' | 'identity' | 'runbookId' | 'autonomyKey'>;

/**
 * Whether so many of the very same have been approved by people, by signed approvals, and found to help, since the last action
 * of this runbook and tool on the target that was denied, alone or as a step of a plan, failed, did not help, was undone or
 * cannot be told: one of those, and it is asked again from the start. What is still under way counts neither way. Actions that
 * ran without asking keep what is earned, but do not add to it.
 */
async function hasEarned({ tx, seal }: Deps, asked: Asked, after: number): Promise<boolean> {
  const { tool, target, identity, runbookId } = asked;
  if (runbookId === null || asked.autonomyKey === null) return false;
  const rows = await tx<
    Pick<ActionRow, 'id' | 'state' | 'decided_by' | 'target' | 'plan_id' | 'autonomy_key'> & {
      denied: boolean;
      undone: boolean;
      verdict: Verdict | null;
    }
  >`
    SELECT a.id, a.state, a.decided_by, a.target, a.plan_id, a.autonomy_key, h.state = 'denied' AS denied,
           (SELECT u.id FROM action u WHERE u.undoes = a.id AND u.state IN ('started', 'succeeded', 'unknown') LIMIT 1) IS NOT NULL AS undone,
           (SELECT e.body->>'verdict' FROM event e
             WHERE e.incident_id = a.incident_id AND e.type = 'verification.concluded' AND (e.body->>'round')::int = a.round
             ORDER BY e.seq DESC LIMIT 1) AS verdict
      FROM action a JOIN action h ON h.id = a.plan_id
     WHERE a.tool = ${tool} AND (a.target = ${target} OR a.identity = ${identity}) AND a.runbook_id = ${runbookId} AND NOT a.audit_only
       -- What the verification found, it found of the repair.
       AND NOT a.beside
     ORDER BY a.proposed_at DESC LIMIT 2000`;
  let count = 0;
  for (const row of rows) {
    const { state, verdict } = row;
    if (row.undone || row.denied || ['failed', 'unknown'].includes(state)) return false;
    if (state !== 'succeeded' || verdict === null) continue;
    if (verdict !== 'fixed') return false;
    // What went well under another name of the system, or with other arguments, earns nothing here; what went wrong counts.
    if (row.decided_by === BY_POLICY || row.target !== target || row.autonomy_key !== asked.autonomyKey)
      continue;
    if (await isPersonsWord({ tx, seal }, row)) count += 1;
    if (count >= after) return true;
  }
  return false;
}

/** Whether a person signed exactly the plan that a row is of: a row that somebody wrote into the table has earned nothing. */
async function isPersonsWord(
  { tx, seal }: Deps,
  { id, plan_id: planId }: Pick<ActionRow, 'id' | 'plan_id'>,
): Promise<boolean> {
  const rows = await tx<ActionRow>`SELECT * FROM action WHERE plan_id = ${planId} ORDER BY step`;
  const [head, ...later] = rows.map(toAction);
  if (!head || planHash(head, later) !== head.planHash) return false;
  const people = [...(await readApprovals(tx, seal, head)).keys()].filter((who) => who !== BY_POLICY);
  return people.length > 0 && [head, ...later].some((step) => step.id === id);
}

/** What lets a thing run without asking at this moment: nothing where several have to approve it, or nobody may at this hour. */
export function unaskedBy({ autonomy, approvals, hours }: Demands, at: Date): Autonomy | null {
  return approvals > 1 || (hours !== null && !isWithin(hours, at)) ? null : autonomy;
}

/** Whether one more may run without asking now: enough is earned, and no more have lately than the rule lets. */
export async function mayRunUnasked(
  deps: Deps,
  action: Asked,
  { after, atMost }: Autonomy,
): Promise<boolean> {
  if (!(await hasEarned(deps, action, after))) return false;
  // A later step counts from the approval of its plan on: until it runs it is as good as run.
  const [row] = await deps.tx<{ n: number }>`
    SELECT count(*) AS n FROM action a JOIN action h ON h.id = a.plan_id
     WHERE a.tool = ${action.tool} AND (a.target = ${action.target} OR a.identity = ${action.identity}) AND h.decided_by = ${BY_POLICY} AND h.id <> ${action.planId}
       AND coalesce(a.started_at, h.decided_at) > clock_timestamp() - ${atMost.minutes} * interval '1 minute'`;
  return row !== undefined && row.n < atMost.actions;
}
