import type { types } from '@slack/bolt';
import { formatDetailsDeleted } from '../../../core/details-deleted.ts';
import { asActionId, asIncidentId, asToolCallId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { sayText } from '../../outbound/tell.ts';
import { codeOf } from '../../outbound/web-errors.ts';
import { paragraph, prose, words } from '../../views/blocks/build.ts';
import { modal } from '../../views/modal.ts';
import { outputView } from '../../views/output.ts';
import { diagnosisView, evidenceView, stepsView, whyView } from '../../views/record-views.ts';
import type { Pressed } from './pressed.ts';

const GONE =
  'is not on record any more. The details of an incident are deleted some time after its end (SENTRY_RETENTION).';

type Make = () => Promise<types.ModalView | string>;

/**
 * Opens a window at once (a trigger lives 3 s) and fills it. `make` gives the window, or in words why there is none.
 */
export async function show(
  context: SlackContext,
  pressed: Pressed,
  title: string,
  make: Make,
): Promise<void> {
  const { client } = context;
  const waiting = modal(title, [prose(paragraph(words('One moment …')))]);
  let viewId: string | undefined;
  try {
    const open = pressed.viewId ? client.views.push : client.views.open;
    const opened = await open.call(client.views, { trigger_id: pressed.triggerId, view: waiting });
    viewId = opened.view?.id;
  } catch (error) {
    context.deps.log.warn({ code: codeOf(error) }, 'a window did not open; answering in the thread');
  }
  const made = await make();
  const view = typeof made === 'string' ? modal(title, [prose(paragraph(words(made)))]) : made;
  if (viewId) await client.views.update({ view_id: viewId, view });
  else await context.tell(pressed.audience, sayText(textOf(view)));
}

/** *Show output*: the stored output of one tool call. */
export const showOutput = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'Output', async () => {
    const call = await context.deps.records.toolCall(asToolCallId(pressed.value));
    return call ? outputView(call, 0) : `This output ${GONE}`;
  });

/** The next or previous page, in the same window. */
export async function turnPage(context: SlackContext, pressed: Pressed): Promise<void> {
  const [id = '', page = '0'] = pressed.value.split(':');
  const call = await context.deps.records.toolCall(asToolCallId(id));
  if (!call || !pressed.viewId) return;
  await context.client.views.update({ view_id: pressed.viewId, view: outputView(call, Number(page) || 0) });
}

/** *Details*: what an approval rests on. */
export const showEvidence = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'Details', async () => {
    const action = await context.deps.records.action(asActionId(pressed.value));
    const record = action && (await context.deps.records.load(action.incidentId));
    if (!action || !record) return 'This action is not on record any more.';
    return formatDetailsDeleted(record.incident) ?? evidenceView(record, action);
  });

export const showWhy = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'What happened, and why', async () => {
    const record = await context.deps.records.load(asIncidentId(pressed.value));
    return record ? whyView(context.deps.why(record)) : 'This incident is not on record any more.';
  });

/** *Show all steps*: value `INC-n:<round>`. */
export const showSteps = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'All steps', async () => {
    const [id = '', round = '1'] = pressed.value.split(':');
    const record = await context.deps.records.load(asIncidentId(id));
    if (!record) return 'This incident is not on record any more.';
    const deleted = formatDetailsDeleted(record.incident);
    if (deleted !== null) return deleted;
    return stepsView(record, Number(round), await context.drawOptions(record));
  });

/** *Show all of it*: value `INC-n:<number of the diagnosis>`. */
export const showDiagnosis = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'Diagnosis', async () => {
    const [id = '', number = '1'] = pressed.value.split(':');
    const record = await context.deps.records.load(asIncidentId(id));
    const all = record?.events.filter((event) => event.type === 'diagnosis.concluded') ?? [];
    const event = all[Number(number) - 1];
    if (event) return diagnosisView(event.diagnosis);
    return (record && formatDetailsDeleted(record.incident)) ?? `This diagnosis ${GONE}`;
  });

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
