import type { Investigation, Question } from '../ports.ts';
import { incidentData } from './prompt-data.ts';
import { nowOf, type RoleDeps, runRole, targetsOf } from './run-role.ts';

/** Characters of the story; its end says how things stand. */
const MAX_STORY = 12_000;

/** Answers a person in an incident's thread: with the record and, when needed, reads of the live system. Changes nothing. */
export async function answerQuestion(
  deps: RoleDeps,
  work: Investigation,
  { by, text, story, earlier = [] }: Question,
): Promise<string> {
  const { text: answer } = await runRole(deps, work, {
    role: 'conversation',
    data: incidentData(work, nowOf(deps), {
      story: story.slice(-MAX_STORY),
      ...(earlier.length > 0 ? { asked_before_in_this_conversation: earlier } : {}),
      question: { by, text },
      targets: targetsOf(work),
    }),
    task: 'Answer the question in incident_data.',
    about: text,
    effort: 'low',
    maxTokens: 8_000,
    limits: { turns: 6, toolCalls: 12, usd: 0.25, wallMs: 2 * 60_000 },
  });
  return answer;
}
