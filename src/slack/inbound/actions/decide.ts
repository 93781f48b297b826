import type { Action } from '../../../core/action.ts';
import { type DenialReach, kindOf } from '../../../core/denial.ts';
import { messageOf } from '../../../core/errors.ts';
import { type ActionId, asActionId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import type { Audience } from '../../outbound/tell.ts';
import { codeOf } from '../../outbound/web-errors.ts';
import { denyView } from '../../views/deny.ts';
import type { Pressed } from './pressed.ts';
import { mayTouch } from './show.ts';

/** `act_…:<plan hash>`, as the card's buttons carry it; null for anything else. */
export function readPlan(value: string): { readonly actionId: ActionId; readonly planHash: string } | null {
  const match = /^(act_[a-z0-9]+):([0-9a-f]{8,128})$/.exec(value);
  return match?.[1] && match[2] ? { actionId: asActionId(match[1]), planHash: match[2] } : null;
}

export interface Decided {
  readonly decision: 'approve' | 'deny';
  readonly reason: string | null;
  readonly anotherWay: boolean;
  /** With *deny*: how far it reaches, for things of the kind that the action touches. */
  readonly reach?: (kind: string) => DenialReach;
}

/** *Approve*: one atomic decision by whoever pressed; every *no* is answered in words. */
export function approve(context: SlackContext, pressed: Pressed): Promise<void> {
  const verdict = { decision: 'approve', reason: null, anotherWay: false } as const;
  return settle(context, pressed.value, pressed.audience, pressed.teamId, verdict);
}

/** *Deny*: asks why and how far first. Where windows do not open, this act is denied, without a reason. */
export async function deny(context: SlackContext, pressed: Pressed): Promise<void> {
  const { channel, threadTs } = pressed.audience;
  const plan = readPlan(pressed.value);
  const action = plan && (await context.deps.records.action(plan.actionId));
  if (!action)
    return context.tell(pressed.audience, {
      text: 'This card is not one of mine any more. Nothing was done.',
    });
  const may = await mayTouch(context, pressed, action.incidentId);
  if (!may.ok) return context.tell(pressed.audience, { text: may.reason });
  // Before they write a reason that would not count; whether they may is asked again of the answer.
  const mayNot = await context.deps.plans.mayDecide(pressed.userId, action, 'deny');
  if (mayNot) return context.tell(pressed.audience, { text: mayNot.reason });
  const view = denyView(
    { plan: pressed.value, channel: channel ?? '', threadTs },
    await context.deps.records.plan(action.planId),
  );
  try {
    await context.client.views.open({ trigger_id: pressed.triggerId, view });
  } catch (error) {
    if (codeOf(error) === 'expired_trigger_id' || codeOf(error) === 'invalid_trigger_id')
      return context.tell(pressed.audience, { text: 'That took too long. Please press “Don’t” again.' });
    context.deps.log.warn({ code: codeOf(error) }, 'no window for the reason; denied without one');
    const verdict = { decision: 'deny', reason: null, anotherWay: false } as const;
    await settle(context, pressed.value, pressed.audience, pressed.teamId, verdict);
  }
}

/** All that a plan touches: its No is one to all of it. */
const objectsOf = async ({ deps }: SlackContext, { planId }: Action) =>
  (await deps.records.plan(planId)).flatMap(({ objects }) => objects);

/** Decides, and answers whoever may not, is late, or pressed twice. */
export async function settle(
  context: SlackContext,
  value: string,
  audience: Audience,
  teamId: string | null,
  verdict: Decided,
): Promise<void> {
  const answer = (text: string) => context.tell(audience, { text });
  const plan = readPlan(value);
  const action = plan && (await context.deps.records.action(plan.actionId));
  if (!plan || !action) return answer('This card is not one of mine any more. Nothing was done.');
  try {
    const may = await context.directory.mayAct(audience.userId, teamId);
    if (!may.ok) return await answer(may.reason);
    const { reach, ...said } = verdict;
    const decided = await context.deps.decide({
      ...plan,
      ...said,
      ...(reach ? { reach: reach(kindOf(await objectsOf(context, action))) } : {}),
      by: audience.userId,
    });
    if (!decided.ok) await answer(decided.reason);
  } catch (error) {
    context.deps.log.error(
      { action: plan.actionId, error: messageOf(error) },
      'a decision could not be recorded',
    );
    await answer('Your decision could not be recorded. Nothing was run. Please try again in a moment.');
  } finally {
    // The card shows what is on record now, whoever decided.
    context.outbound.pressed(action.incidentId);
  }
}
