import { messageOf } from '../../../core/errors.ts';
import { type GradeQuestion, gradeQuestions } from '../../../core/grade.ts';
import { parseIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { gradeAction } from '../../views/blocks/feedback.ts';
import type { Pressed } from './pressed.ts';
import { mayTouch } from './show.ts';

type Handler = (context: SlackContext, pressed: Pressed) => Promise<void>;

/** A handler for each answer to each question, by the button's `action_id`. */
export const gradeHandlers: Readonly<Record<string, Handler>> = Object.fromEntries(
  gradeQuestions.flatMap((question) =>
    [true, false].map((answer): [string, Handler] => [
      gradeAction(question, answer),
      (context, pressed) => grade(context, pressed, question, answer),
    ]),
  ),
);

/** Stores what whoever pressed thinks; the message then shows it. */
async function grade(
  context: SlackContext,
  pressed: Pressed,
  question: GradeQuestion,
  answer: boolean,
): Promise<void> {
  const { audience } = pressed;
  const tell = (text: string) => context.tell(audience, { text });
  const incidentId = parseIncidentId(pressed.value);
  if (!incidentId) return tell('I do not know this button any more.');
  try {
    const may = await mayTouch(context, pressed, incidentId);
    if (!may.ok) return await tell(may.reason);
    const given = await context.deps.grade(incidentId, { question, by: audience.userId, answer });
    if (!given.ok) await tell(given.reason);
  } catch (error) {
    context.deps.log.error({ incident: incidentId, error: messageOf(error) }, 'a grade could not be stored');
    await tell('Your answer could not be stored. Please try again in a moment.');
  }
}
