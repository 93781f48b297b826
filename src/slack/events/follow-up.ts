import { messageOf } from '../../domain/errors.ts';
import type { IncidentId } from '../../domain/ids.ts';
import type { Slot } from '../blocks/slot.ts';
import { cut, escape } from '../blocks/text.ts';
import type { SlackContext } from '../context.ts';
import { sayText } from '../tell.ts';

/** Words are shown at most this often; each is one edit of the message. */
const EVERY_MS = 1_500;
/** Characters of an answer in one message. */
const MAX_SHOWN = 2_800;

/**
 * The model's answer to a question, below the record's: one message that grows while the model writes. Not waited for by
 * whoever handles the event: an approval must not stand behind a model's thinking.
 */
export async function answerWithModel(
  context: SlackContext,
  id: IncidentId,
  question: { readonly by: string; readonly text: string; readonly ts: string },
): Promise<void> {
  const { deps, outbound } = context;
  if (!deps.followUp) return;
  let shown: Promise<void> = Promise.resolve();
  let latest: string | null = null;
  let nextAt = 0;
  const slot = (text: string, live: boolean): Slot => {
    const say = sayText(cut(text, MAX_SHOWN));
    return {
      slot: `followup:${question.ts}`,
      inThread: true,
      ...(live ? { live: true as const } : {}),
      text: escape(say.text),
      blocks: say.blocks ?? [],
    };
  };
  const show = (words: string): void => {
    latest = words;
    if (performance.now() < nextAt) return;
    nextAt = Number.POSITIVE_INFINITY;
    shown = outbound.say(id, slot(`${latest} …`, true)).then(
      () => {
        nextAt = performance.now() + EVERY_MS;
      },
      () => undefined,
    );
  };
  try {
    const answer = await deps.followUp(id, { by: question.by, text: question.text }, (words) =>
      show(words ?? 'I begin again'),
    );
    await shown;
    if (!answer.ok && answer.code === 'NO_MODEL') return;
    const text = answer.ok ? answer.text : `I could not answer beyond the record: ${answer.reason}`;
    await outbound.say(id, slot(text, false));
  } catch (error) {
    deps.log.warn({ incident: id, error: messageOf(error) }, 'a question could not be answered');
  }
}
