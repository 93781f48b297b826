import type { AnswerPlaces } from '../../../incidents/ports.ts';
import type { AskedQuestion } from '../../../incidents/questions/questions.ts';
import type { Outbound } from '../outbound.ts';
import { DirectAnswer, type DirectAnswerDeps } from './direct-answer.ts';
import { threadAnswer } from './thread-answer.ts';

/** Streamed in a direct message, where one person reads; one edited message in a thread, where many do. */
export function createAnswerPlaces(
  deps: Omit<DirectAnswerDeps, 'stop'> & {
    readonly outbound: Pick<Outbound, 'say'>;
    readonly stop: (question: AskedQuestion) => Promise<unknown>;
  },
): AnswerPlaces {
  return {
    open: (question) =>
      question.direct
        ? new DirectAnswer({ ...deps, stop: () => deps.stop(question) }, question, titleOf(question))
        : threadAnswer(deps, question),
  };
}

/** What the session is called in Slack's list: by its first question. */
function titleOf({ incidentId, text }: AskedQuestion): string {
  return text.toUpperCase().includes(incidentId) ? text : `${incidentId}: ${text}`;
}
