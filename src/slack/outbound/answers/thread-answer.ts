import { messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { AnswerView } from '../../../incidents/ports.ts';
import type { AskedQuestion } from '../../../incidents/questions/questions.ts';
import type { Slot } from '../../views/blocks/slot.ts';
import { cut, escape } from '../../views/blocks/text.ts';
import type { Outbound } from '../outbound.ts';
import { sayText } from '../tell.ts';
import { formatAnswerEnd } from './format-answer-end.ts';

/** Words are shown at most this often; each is one edit of the message. */
const EVERY_MS = 1_500;
/** Characters of an answer in one message. */
const MAX_SHOWN = 2_800;

/** An answer in an incident's thread, below the record's: one message that grows while the model writes, and ends whole. */
export function threadAnswer(
  { outbound, log }: { readonly outbound: Pick<Outbound, 'say'>; readonly log: Log },
  question: AskedQuestion,
): AnswerView {
  const { incidentId: id } = question;
  let shown: Promise<void> = Promise.resolve();
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

  return {
    show(words) {
      if (performance.now() < nextAt) return;
      nextAt = Number.POSITIVE_INFINITY;
      shown = outbound.say(id, slot(`${words ?? 'I begin again'} …`, true)).then(
        () => {
          nextAt = performance.now() + EVERY_MS;
        },
        // Words are for watching; the end is not said this way.
        (error: unknown) => log.debug({ incident: id, error: messageOf(error) }, 'words were not shown'),
      );
    },
    async end(end) {
      nextAt = Number.POSITIVE_INFINITY;
      await shown;
      await outbound.say(id, slot(formatAnswerEnd(end, id), false));
    },
    close() {
      nextAt = Number.POSITIVE_INFINITY;
    },
  };
}
