import type { types } from '@slack/bolt';
import { formatDetailsDeleted } from '../../../core/details-deleted.ts';
import { type Refusal, refuse } from '../../../core/errors.ts';
import { asActionId, asIncidentId, asToolCallId, type IncidentId } from '../../../core/ids.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import type { SlackContext } from '../../context.ts';
import { MESSAGE, type Say, sayText } from '../../outbound/tell.ts';
import { codeOf } from '../../outbound/web-errors.ts';
import { type Block, paragraph, prose, words } from '../../views/blocks/build.ts';
import { LIMITS } from '../../views/blocks/limits.ts';
import { modal } from '../../views/modal.ts';
import { outputView } from '../../views/output.ts';
import { diagnosisView, evidenceView, stepsView, whyView } from '../../views/record-views.ts';
import type { Pressed } from './pressed.ts';

const GONE =
  'is not on record any more. The details of an incident are deleted some time after its end (SENTRY_RETENTION).';

type Make = () => Promise<types.ModalView | string>;

/**
 * Opens a window at once (a trigger lives 3 s) and fills it. `make` gives the window, or in words why there is none. What was
 * pressed in a window stands on top of it, or with `stays` in its place. `otherwise`: said where no window opens, in place of
 * what would stand in it.
 */
export async function show(
  context: SlackContext,
  pressed: Pressed,
  title: string,
  make: Make,
  { stays = false, otherwise }: { readonly stays?: boolean; readonly otherwise?: string } = {},
): Promise<void> {
  const { client } = context;
  const waiting = modal(title, [prose(paragraph(words('One moment …')))]);
  let viewId = (stays ? pressed.viewId : null) ?? undefined;
  try {
    const open = pressed.viewId ? client.views.push : client.views.open;
    viewId ??= (await open.call(client.views, { trigger_id: pressed.triggerId, view: waiting })).view?.id;
  } catch (error) {
    context.deps.log.warn({ code: codeOf(error) }, 'a window did not open; answering in the thread');
  }
  const made = await make();
  const view = typeof made === 'string' ? modal(title, [prose(paragraph(words(made)))]) : made;
  if (viewId) await client.views.update({ view_id: viewId, view });
  else {
    const isMade = typeof made !== 'string' && otherwise !== undefined;
    await context.tell(pressed.audience, isMade ? sayText(otherwise) : sayView(view));
  }
}

/**
 * Whether whoever pressed may read of the incident that a button names: it may stand where others read, as on a proposal's card
 * or in a window of one.
 */
export async function mayLook(
  { deps, access }: SlackContext,
  { userId, audience }: Pick<Pressed, 'userId' | 'audience'>,
  id: IncidentId,
): Promise<boolean> {
  const incident = await deps.records.incident(id);
  return incident !== null && access.mayRead(userId, incident, audience.channel);
}

export const NOT_YOURS =
  'This is of an incident in a channel that you may not see, or Slack cannot say that you may.';

/** Whether whoever pressed may do something with an incident: a member who may read of it. Whether it may be done is its service's to say. */
export async function mayTouch(
  context: SlackContext,
  pressed: Pick<Pressed, 'userId' | 'teamId' | 'audience'>,
  id: IncidentId,
): Promise<{ readonly ok: true } | Refusal> {
  const may = await context.directory.mayAct(pressed.userId, pressed.teamId);
  if (!may.ok) return may;
  return (await mayLook(context, pressed, id)) ? may : refuse('NOT_TO_SEE', NOT_YOURS);
}

/** What an incident's record gives; words where there is none, or not for whoever pressed. */
const showOf = (
  context: SlackContext,
  pressed: Pressed,
  title: string,
  id: IncidentId,
  make: (record: IncidentRecord) => types.ModalView | string | Promise<types.ModalView | string>,
  stays = false,
): Promise<void> =>
  show(
    context,
    pressed,
    title,
    async () => {
      const record = await context.deps.records.load(id);
      if (!record) return 'This incident is not on record any more.';
      return (await mayLook(context, pressed, id)) ? make(record) : NOT_YOURS;
    },
    { stays },
  );

/** *Show output*: the stored output of one tool call. */
export const showOutput = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'Output', async () => {
    const call = await context.deps.records.toolCall(asToolCallId(pressed.value));
    if (!call) return `This output ${GONE}`;
    return (await mayLook(context, pressed, call.incidentId)) ? outputView(call, 0) : NOT_YOURS;
  });

/** The next or previous page, in the same window. */
export async function turnPage(context: SlackContext, pressed: Pressed): Promise<void> {
  const [id = '', page = '0'] = pressed.value.split(':');
  const call = await context.deps.records.toolCall(asToolCallId(id));
  if (!call) return context.tell(pressed.audience, { text: `This output ${GONE}` });
  if (!(await mayLook(context, pressed, call.incidentId)))
    return context.tell(pressed.audience, { text: NOT_YOURS });
  // Its pages are turned in a window alone.
  if (!pressed.viewId) return showOutput(context, { ...pressed, value: call.id });
  await context.client.views.update({ view_id: pressed.viewId, view: outputView(call, Number(page) || 0) });
}

/** *Details*: what an approval rests on. */
export const showEvidence = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'Details', async () => {
    const action = await context.deps.records.action(asActionId(pressed.value));
    const record = action && (await context.deps.records.load(action.incidentId));
    if (!action || !record) return 'This action is not on record any more.';
    if (!(await mayLook(context, pressed, action.incidentId))) return NOT_YOURS;
    return formatDetailsDeleted(record.incident) ?? evidenceView(record, action);
  });

export const showWhy = (context: SlackContext, pressed: Pressed): Promise<void> =>
  showOf(context, pressed, 'What happened, and why', asIncidentId(pressed.value), (record) =>
    whyView(context.deps.why(record)),
  );

/** *Steps*: value `INC-n`; of messages that still stand `INC-n:<round>`. */
export function showSteps(context: SlackContext, pressed: Pressed): Promise<void> {
  const [id = '', round] = pressed.value.split(':');
  return showOf(
    context,
    pressed,
    'Steps',
    asIncidentId(id),
    async (record) =>
      formatDetailsDeleted(record.incident) ??
      stepsView(record, round === undefined ? null : Number(round), await context.drawOptions(record)),
  );
}

/** *Evidence*: value `INC-n:<number of the diagnosis>`. Another look takes the place of the one in whose window it was pressed. */
export function showDiagnosis(context: SlackContext, pressed: Pressed): Promise<void> {
  const [id = '', number = '1'] = pressed.value.split(':');
  return showOf(
    context,
    pressed,
    'Evidence',
    asIncidentId(id),
    async (record) =>
      diagnosisView(record, Number(number), await context.drawOptions(record)) ??
      formatDetailsDeleted(record.incident) ??
      `This diagnosis ${GONE}`,
    true,
  );
}

/** A window as a message, where there are no windows: with what can be pressed beside a line, cut where a message is full. */
function sayView(view: types.ModalView): Say {
  let room = MESSAGE;
  const blocks = view.blocks
    .filter((block) => block.type !== 'actions')
    .slice(0, LIMITS.messageBlocks) as Block[];
  const firstOut = blocks.findIndex((block) => {
    room -= textOf({ ...view, blocks: [block] }).length;
    return room < 0;
  });
  const text = textOf(view);
  // One block alone is too long: its words are cut instead.
  if (firstOut === 0) return sayText(text);
  return { text: sayText(text).text, blocks: firstOut < 0 ? blocks : blocks.slice(0, firstOut) };
}

/** What a window says, for where there are no windows. */
function textOf(view: types.ModalView): string {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (isSentence(node))
      found.push(node.elements.map((each) => each.text ?? each.fallback ?? '').join(''));
    else if (typeof node === 'object' && node !== null)
      for (const [key, value] of Object.entries(node))
        if (key === 'text' && typeof value === 'string') found.push(value);
        else if (key !== 'accessory') walk(value);
  };
  walk(view.blocks.filter((block) => block.type !== 'actions'));
  return found.join('\n');
}

interface Sentence {
  readonly elements: ReadonlyArray<{ readonly text?: string; readonly fallback?: string }>;
}

/** Pieces that are read as one line. */
const isSentence = (node: unknown): node is Sentence =>
  typeof node === 'object' &&
  node !== null &&
  'type' in node &&
  (node.type === 'rich_text_section' || node.type === 'rich_text_preformatted');
