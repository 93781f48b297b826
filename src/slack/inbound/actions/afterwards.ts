import { messageOf, type Refusal } from '../../../core/errors.ts';
import type { SlackContext } from '../../context.ts';
import type { PlanClick, SlackDeps } from '../../ports.ts';
import { readPlan } from './decide.ts';
import type { Pressed } from './pressed.ts';

type Afterwards = SlackDeps['afterwards'];
type AfterwardsAnswer = { readonly ok: true; readonly text?: string | null } | Refusal;

/** *Undo*: takes an action back; every *no* is answered in words. */
export const undo = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed, (afterwards, click) => afterwards.undo(click));

/** *Approve after all*: has what was denied asked for again. */
export const approveAfterAll = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed, (afterwards, click) => afterwards.askAgain(click));

/** *Take the No back*. */
export const takeNoBack = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed, (afterwards, click) => afterwards.takeNoBack(click));

/** *Run the rest*: has what a plan left undone asked for. */
export const runRest = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed, (afterwards, click) => afterwards.runRest(click));

/** *It ran*, *It did not run*: somebody who has looked settles what Sentry cannot tell. */
export const itRan = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed, (afterwards, click) => settle(context, afterwards, click, true));
export const itDidNotRun = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed, (afterwards, click) => settle(context, afterwards, click, false));

const settle = async (context: SlackContext, afterwards: Afterwards, click: PlanClick, ran: boolean) =>
  afterwards.settle({ ...click, ran, name: await context.directory.name(click.by) });

async function ask(
  context: SlackContext,
  { value, audience, teamId }: Pressed,
  press: (afterwards: Afterwards, click: PlanClick) => Promise<AfterwardsAnswer>,
): Promise<void> {
  const { deps, outbound, directory } = context;
  const answer = (text: string) => context.tell(audience, { text });
  const plan = readPlan(value);
  const action = plan && (await deps.records.action(plan.actionId));
  if (!plan || !action) return answer('This card is not one of mine any more. Nothing was done.');
  try {
    const may = await directory.mayAct(audience.userId, teamId);
    const done = may.ok ? await press(deps.afterwards, { ...plan, by: audience.userId }) : may;
    if (!done.ok) await answer(done.reason);
    else if (done.text) await answer(done.text);
  } catch (error) {
    deps.log.error({ action: plan.actionId, error: messageOf(error) }, 'a click could not be followed');
    await answer('That could not be recorded. Please look at the card and try again in a moment.');
  } finally {
    outbound.pressed(action.incidentId);
  }
}
