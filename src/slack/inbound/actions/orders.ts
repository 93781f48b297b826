import type { App, ViewSubmitAction } from '@slack/bolt';
import { severities } from '../../../core/alert.ts';
import { messageOf, refuse } from '../../../core/errors.ts';
import { type IncidentId, parseIncidentId } from '../../../core/ids.ts';
import type { Incident } from '../../../core/incident.ts';
import { isEnded } from '../../../core/machine.ts';
import type { Steered } from '../../../incidents/steering.ts';
import type { SlackContext } from '../../context.ts';
import type { Audience } from '../../outbound/tell.ts';
import { type MoreAction, moreActions } from '../../views/blocks/root-buttons.ts';
import { readField } from '../../views/form.ts';
import { ORDER_FIELD, ORDER_VIEW, type OrderContext, orderView } from '../../views/order-views.ts';
import { carryOut, mayHave, type Order } from '../commands/incident-orders.ts';
import type { Pressed } from './pressed.ts';
import { mayLook, NOT_YOURS, show, showWhy } from './show.ts';

const UNKNOWN = 'I do not know this button any more. Nothing was done.';

export const stopIt = (context: SlackContext, pressed: Pressed): Promise<void> =>
  pressedOrder(context, pressed, { verb: 'stop' });

export const resumeIt = (context: SlackContext, pressed: Pressed): Promise<void> =>
  pressedOrder(context, pressed, { verb: 'resume' });

async function pressedOrder(context: SlackContext, pressed: Pressed, order: Order): Promise<void> {
  const { value, teamId, audience } = pressed;
  const id = parseIncidentId(value);
  if (!id) return context.tell(audience, { text: UNKNOWN });
  await answer(context, audience, id, () => carryOut(context, id, order, { ...whereOf(audience), teamId }));
}

/** Whoever pressed is told what came of it, also that nothing did. */
async function answer(
  context: SlackContext,
  audience: Audience,
  id: IncidentId,
  act: () => Promise<Steered>,
): Promise<void> {
  const done = await act().catch((error: unknown) => {
    context.deps.log.error({ incident: id, error: messageOf(error) }, 'what was pressed could not be stored');
    return refuse('NOT_STORED', 'That could not be stored. Please try again in a moment.');
  });
  await context.tell(audience, { text: done.ok ? done.text : done.reason });
}

const whereOf = ({ userId, channel, threadTs }: Audience) => ({
  userId,
  channel,
  threadTs: threadTs ?? null,
});

const titles: Readonly<Record<OrderContext['verb'], string>> = {
  severity: 'Change severity',
  assign: 'Assign',
  merge: 'Merge',
  close: 'Close',
};

/** What was chosen behind the three dots. */
export async function chooseMore(context: SlackContext, pressed: Pressed): Promise<void> {
  const { audience, value } = pressed;
  const [chosen = '', named = ''] = value.split(':');
  const action = moreActions.find((each) => each === chosen);
  const id = parseIncidentId(named);
  if (!action || !id) return context.tell(audience, { text: UNKNOWN });
  // The browser opens it.
  if (action === 'link') return;
  if (action === 'why') return showWhy(context, { ...pressed, value: id });
  await askFor(context, pressed, action, id);
}

/** Opens the window that asks how; what it cannot be asked of is said in it. */
async function askFor(
  context: SlackContext,
  pressed: Pressed,
  verb: Exclude<MoreAction, 'why' | 'link'>,
  id: IncidentId,
): Promise<void> {
  const { audience, userId, teamId } = pressed;
  const make = async () => {
    const may = await context.directory.mayAct(userId, teamId);
    if (!may.ok) return may.reason;
    const incident = (await mayLook(context, pressed, id)) ? await context.deps.records.incident(id) : null;
    if (incident === null) return NOT_YOURS;
    if (isEnded(incident.state)) return `${id} is over already.`;
    const where = { channel: audience.channel ?? '', threadTs: audience.threadTs ?? null };
    const onCall = verb === 'assign' ? await firstOnCall(context, incident, userId) : null;
    return orderView({ verb, incidentId: id, ...where }, incident, onCall);
  };
  await show(context, pressed, titles[verb], make, {
    otherwise: 'No window opened. Please choose it again.',
  });
}

/** Somebody on call who may have it, other than who asks; null: none is known. */
async function firstOnCall(
  { deps, directory, access }: SlackContext,
  incident: Incident,
  userId: string,
): Promise<string | null> {
  const group = deps.config.oncallGroup?.replace(/^@/, '');
  const members = group ? await directory.groupMembers(group).catch(() => []) : [];
  for (const id of members)
    if (id !== userId && (await mayHave({ directory, access }, incident, id)) === null) return id;
  return null;
}

export function registerOrders(app: App, context: SlackContext): void {
  app.view<ViewSubmitAction>(ORDER_VIEW, async ({ ack, body, view }) => {
    await ack();
    const where = JSON.parse(view.private_metadata) as OrderContext;
    const audience = { userId: body.user.id, channel: where.channel || null, threadTs: where.threadTs };
    const id = parseIncidentId(where.incidentId);
    const order = orderOf(where.verb, readField(view.state.values, ORDER_FIELD));
    if (!id || !order)
      return context.tell(audience, { text: 'I cannot read that. Name an incident like this: INC-3' });
    const who = { ...whereOf(audience), teamId: body.user.team_id ?? null };
    await answer(context, audience, id, () => carryOut(context, id, order, who));
  });
}

/** Null: what was entered is none. */
function orderOf(verb: OrderContext['verb'], entered: string): Order | null {
  switch (verb) {
    case 'close':
      return { verb, reason: entered };
    case 'assign':
      return entered === '' ? null : { verb, to: entered };
    case 'severity': {
      const to = severities.find((each) => each === entered);
      return to ? { verb, to } : null;
    }
    case 'merge': {
      const into = parseIncidentId(entered);
      return into ? { verb, into } : null;
    }
  }
}
