import type { App, ViewSubmitAction } from '@slack/bolt';
import type { Action } from '../../../core/action.ts';
import { describePlan } from '../../../core/describe-act.ts';
import { messageOf } from '../../../core/errors.ts';
import { whyThis } from '../../../incidents/questions/why-this.ts';
import type { SlackContext } from '../../context.ts';
import type { Audience } from '../../outbound/tell.ts';
import { cardMoreActions } from '../../views/blocks/action-card.ts';
import { mentionsOf, paragraph, prose, words } from '../../views/blocks/build.ts';
import type { Slot } from '../../views/blocks/slot.ts';
import { cut, escape, oneLine } from '../../views/blocks/text.ts';
import {
  type CardContext,
  EDIT_VIEW,
  editView,
  HAND_OVER_VIEW,
  handOverView,
  readEdited,
  readHandOver,
  whyThisView,
} from '../../views/card-views.ts';
import { modal } from '../../views/modal.ts';
import { readPlan, settle } from './decide.ts';
import type { Pressed } from './pressed.ts';
import { mayLook, mayTouch, NOT_YOURS, show } from './show.ts';

const GONE = 'This card is not one of mine any more. Nothing was done.';
const NOT_OPEN = 'This is not open any more; its card says what became of it.';
const AGAIN = 'No window opened. Please choose it again.';
/** The reason of a No that says no more; people read it on later cards. */
const ANOTHER_WAY = 'asks for another way';

/** What was chosen behind an open card's three dots: `edit:<action>:<plan hash>`. */
export async function chooseOnCard(context: SlackContext, pressed: Pressed): Promise<void> {
  const { audience, teamId, value } = pressed;
  const [chosen = ''] = value.split(':', 1);
  const verb = cardMoreActions.find((each) => each === chosen);
  const planned = value.slice(chosen.length + 1);
  const plan = readPlan(planned);
  const action = plan && (await context.deps.records.action(plan.actionId));
  if (!verb || !plan || !action) return context.tell(audience, { text: GONE });
  if (verb === 'another') {
    // A wish for another way is no No to the act: it is about this very plan, in this incident.
    const reach = () => ({ scope: 'action', minutes: null }) as const;
    const verdict = { decision: 'deny', reason: ANOTHER_WAY, anotherWay: true, reach } as const;
    return settle(context, planned, audience, teamId, verdict);
  }
  const where = { plan: planned, channel: audience.channel ?? '', threadTs: audience.threadTs ?? null };
  await show(
    context,
    pressed,
    { why: 'Why this?', edit: 'Change the plan', hand: 'Ask somebody else' }[verb],
    async () => {
      if (!(await mayLook(context, pressed, action.incidentId))) return NOT_YOURS;
      const may = await context.directory.mayAct(pressed.userId, teamId);
      if (!may.ok) return may.reason;
      if (verb === 'why') {
        const record = await context.deps.records.load(action.incidentId);
        return record ? whyThisView(whyThis(record, action)) : GONE;
      }
      const steps = await context.deps.records.plan(action.planId);
      if (action.state !== 'proposed' || action.planHash !== plan.planHash) return NOT_OPEN;
      if (verb === 'hand') return handOverView(where, steps);
      const mayNot = await context.deps.plans.mayDecide(pressed.userId, action, 'deny');
      if (mayNot) return mayNot.reason;
      const fields = context.deps.plans.fieldsOf(steps);
      return fields.length > 0 ? editView(where, steps, fields) : 'Nothing of this plan can be changed here.';
    },
    { otherwise: AGAIN },
  );
}

export function registerCardMore(app: App, context: SlackContext): void {
  app.view<ViewSubmitAction>(EDIT_VIEW, async ({ ack, body, view }) => {
    const title = 'Change the plan';
    // The whole proposal is made anew, which may take longer than Slack waits.
    await ack({ response_action: 'update', view: note(title, 'Looking at it as things are now …') });
    const where = JSON.parse(view.private_metadata) as CardContext;
    const shown = await saveEdit(context, body, where, view.state.values);
    await context.client.views.update({
      view_id: view.id,
      view: typeof shown === 'string' ? note(title, shown) : shown,
    });
  });

  app.view<ViewSubmitAction>(HAND_OVER_VIEW, async ({ ack, body, view }) => {
    await ack();
    const where = JSON.parse(view.private_metadata) as CardContext;
    const audience = { userId: body.user.id, channel: where.channel || null, threadTs: where.threadTs };
    const to = readHandOver(view.state.values);
    const text = await handOver(context, audience, body.user.team_id ?? null, where, to).catch(
      (error: unknown) => {
        context.deps.log.error({ error: messageOf(error) }, 'a decision could not be handed over');
        return 'That could not be posted. Please try again in a moment.';
      },
    );
    if (text) await context.tell(audience, { text });
  });
}

const note = (title: string, text: string) => modal(title, [prose(paragraph(words(text)))]);

/** The window that stands then: what came of it, or the same again with what is wrong. */
async function saveEdit(
  context: SlackContext,
  body: ViewSubmitAction,
  where: CardContext,
  values: Parameters<typeof readEdited>[0],
) {
  const { records, plans, log } = context.deps;
  const userId = body.user.id;
  const plan = readPlan(where.plan);
  const action = plan && (await records.action(plan.actionId));
  if (!plan || !action) return GONE;
  try {
    const audience = { userId, channel: where.channel || null, threadTs: where.threadTs };
    const presser = { userId, teamId: body.user.team_id ?? null, audience };
    const may = await mayTouch(context, presser, action.incidentId);
    if (!may.ok) return may.reason;
    const edited = readEdited(values);
    const saved = await plans.save({ ...plan, by: userId }, edited);
    if (saved.ok)
      return 'It is asked for anew, as a card of its own in the thread. The card that was is void.';
    const steps = await records.plan(action.planId);
    const fields = plans.fieldsOf(steps);
    return steps[0]?.state === 'proposed' && fields.length > 0
      ? editView(where, steps, fields, { problem: saved.reason, edited })
      : saved.reason;
  } catch (error) {
    log.error({ action: action.id, error: messageOf(error) }, 'a changed plan could not be asked for');
    return 'That could not be recorded. Nothing was changed; please try again in a moment.';
  } finally {
    context.outbound.pressed(action.incidentId);
  }
}

/** Mentions who is to decide, once each; in words why not. Null: the thread says it. */
async function handOver(
  context: SlackContext,
  audience: Audience,
  teamId: string | null,
  where: CardContext,
  to: string,
): Promise<string | null> {
  const { records, plans } = context.deps;
  const plan = readPlan(where.plan);
  const action = plan && (await records.action(plan.actionId));
  if (!plan || !action || to === '') return GONE;
  const may = await context.directory.mayAct(audience.userId, teamId);
  if (!may.ok) return may.reason;
  if (!(await mayLook(context, { userId: audience.userId, audience }, action.incidentId))) return NOT_YOURS;
  if (action.state !== 'proposed' || action.planHash !== plan.planHash) return NOT_OPEN;
  const steps = await records.plan(action.planId);
  for (const step of steps) {
    const mayNot = await plans.mayDecide(to, step, 'approve');
    if (mayNot) return `They cannot decide this: ${mayNot.reason}`;
  }
  await context.outbound.say(action.incidentId, {
    slot: `asked:${action.id}:${to}`,
    inThread: true,
    ...handedOver(steps, to, await context.directory.name(audience.userId)),
  });
  return null;
}

function handedOver(steps: readonly Action[], to: string, by: string): Pick<Slot, 'text' | 'blocks'> {
  const who = mentionsOf([to]);
  const says = `${cut(oneLine(by), 60)} asks you to decide: ${cut(oneLine(describePlan(steps)), 100)} on ${cut(oneLine(steps[0]?.target ?? ''), 40)}?`;
  return {
    text: `${who.text}${escape(says)}`,
    blocks: [prose(paragraph(...who.spans, words(says)))],
  };
}
