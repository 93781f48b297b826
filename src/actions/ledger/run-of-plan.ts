import type { Action } from '../../core/action.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';
import type { ActiveTool } from '../../tools/define.ts';
import { demandsOf } from '../checks/approval-checks.ts';
import type { GateDeps } from '../gate-deps.ts';
import type { ReadsCriterion } from '../proposals/aim.ts';
import type { LaterStep } from './ledger.ts';

/** While the incident is somewhere else; whoever moves it back asks for a turn of its own. */
export const LOOK_AGAIN_MS = 500;

/** The plan as it stands now. What was decided of it stands on its first step, and goes for all of them. */
export async function planOf(
  { records }: Pick<GateDeps, 'records'>,
  { id }: Action,
): Promise<readonly Action[]> {
  const action = await records.action(id);
  const steps = action ? await records.plan(action.planId) : [];
  const [first] = steps;
  if (!first) return [];
  const { decidedBy, decidedAt, approvedBy, approvalsNeeded } = first;
  return steps.map((step) => ({ ...step, decidedBy, decidedAt, approvedBy, approvalsNeeded }));
}

/** What the first claim has to know of the steps after it; a refusal when one of them may not be approved any more. */
export async function laterSteps(
  { rules, registry }: Pick<GateDeps, 'rules' | 'registry'>,
  steps: readonly Action[],
): Promise<readonly LaterStep[] | Refusal> {
  const demands = rules ? await demandsOf(rules, steps) : [];
  if ('ok' in demands) return demands;
  return steps.map((action, at) => {
    const tool = registry.get(action.tool);
    const caps = demands[at];
    if (tool?.kind !== 'active') return { action, timeoutMs: 0 };
    const { limit, timeoutMs } = tool as ActiveTool<unknown, Json>;
    return {
      action,
      timeoutMs,
      limit: limit?.(action.input, action.guard, action.objects),
      ...(caps ? { caps } : {}),
    };
  });
}

/** A step follows the one before it only once that one's effect was seen on the live system: undefined when it was. */
export async function effectOf(
  deps: Pick<GateDeps, 'registry' | 'sql'> & { readonly criterion: ReadsCriterion },
  before: Action,
  signal: AbortSignal,
): Promise<
  | { readonly kind: 'later'; readonly inMs: number; readonly reason: string }
  | { readonly kind: 'not_seen'; readonly refusal: Refusal }
  | undefined
> {
  const { incidentId, target, step, command } = before;
  const tool = deps.registry.get(before.tool);
  if (before.state !== 'succeeded' || tool?.kind !== 'active')
    return { kind: 'later', inMs: LOOK_AGAIN_MS, reason: `Step ${step} has not ended.` };
  const { systems } = before.verify;
  const plan = {
    ...(tool as ActiveTool<unknown, Json>).effect(before.input, before.guard),
    ...(systems ? { systems } : {}),
  };
  const purpose = `Did step ${step} take effect?`;
  const reading = await deps.criterion({ incidentId, target, plan, purpose, signal });
  if (reading.holds === true) return undefined;
  const [row] = await deps.sql<{ over: boolean | null }>`
    SELECT finished_at < clock_timestamp() - ${plan.timeoutMs} * interval '1 millisecond' AS over
      FROM action WHERE id = ${before.id}`;
  const said = `The effect of step ${step}, ${command}, is not to be seen: ${reading.lines.join('; ')}`;
  return row?.over
    ? { kind: 'not_seen', refusal: refuse('EFFECT_NOT_SEEN', said) }
    : { kind: 'later', inMs: Math.min(2_000, Math.max(50, plan.holdMs)), reason: said };
}
