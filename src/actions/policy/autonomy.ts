import type { Action } from '../../core/action.ts';
import type { Verdict } from '../../core/incident.ts';
import type { Tx } from '../../core/sql.ts';
import type { ActionRow } from '../../record/rows.ts';
import { type Autonomy, type Demands, isWithin } from './rule.ts';

/** Who approves in the name of a rule; no Slack user has such an id. */
export const BY_POLICY = 'policy';

/**
 * How many actions of this runbook, tool and target a person has approved and the verification has found to help, since the
 * last one that was denied, alone or as a step of a plan, failed, did not help, was undone or cannot be told: one of those, and it is asked again from the start.
 * What is still under way counts neither way. Actions that ran without asking keep what is earned, but do not add to it.
 */
export async function earned(
  tx: Tx,
  { tool, target, identity, runbookId }: Pick<Action, 'tool' | 'target' | 'identity' | 'runbookId'>,
): Promise<number> {
  if (runbookId === null) return 0;
  const rows = await tx<
    Pick<ActionRow, 'state' | 'decided_by' | 'target'> & {
      denied: boolean;
      undone: boolean;
      verdict: Verdict | null;
    }
  >`
    SELECT a.state, a.decided_by, a.target, h.state = 'denied' AS denied,
           EXISTS (SELECT FROM action u WHERE u.undoes = a.id AND u.state IN ('started', 'succeeded', 'unknown')) AS undone,
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
    if (row.undone || row.denied || ['failed', 'unknown'].includes(state)) break;
    if (state !== 'succeeded' || verdict === null) continue;
    if (verdict !== 'fixed') break;
    // What went well under another name of the system earns nothing for this one; what went wrong counts.
    if (row.decided_by !== BY_POLICY && row.target === target) count += 1;
  }
  return count;
}

/** What lets a thing run without asking at this moment: nothing where several have to approve it, or nobody may at this hour. */
export function unaskedBy({ autonomy, approvals, hours }: Demands, at: Date): Autonomy | null {
  return approvals > 1 || (hours !== null && !isWithin(hours, at)) ? null : autonomy;
}

/** Whether one more may run without asking now: enough is earned, and no more have lately than the rule lets. */
export async function mayRunUnasked(
  tx: Tx,
  action: Pick<Action, 'planId' | 'tool' | 'target' | 'identity' | 'runbookId'>,
  { after, atMost }: Autonomy,
): Promise<boolean> {
  // What a patch changes is a model's own words, which nothing earns.
  if (action.tool === 'apply_patch' || (await earned(tx, action)) < after) return false;
  // A later step counts from the approval of its plan on: until it runs it is as good as run.
  const [row] = await tx<{ n: number }>`
    SELECT count(*) AS n FROM action a JOIN action h ON h.id = a.plan_id
     WHERE a.tool = ${action.tool} AND (a.target = ${action.target} OR a.identity = ${action.identity}) AND h.decided_by = ${BY_POLICY} AND h.id <> ${action.planId}
       AND coalesce(a.started_at, h.decided_at) > clock_timestamp() - ${atMost.minutes} * interval '1 minute'`;
  return row !== undefined && row.n < atMost.actions;
}
