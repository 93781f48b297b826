import type { IncidentEvent } from './event.ts';

/** What a thread asks when its incident is resolved. */
export const gradeQuestions = ['cause_right', 'useful'] as const;
export type GradeQuestion = (typeof gradeQuestions)[number];

/** One person's answer to one question about one incident; a later one takes its place. */
export interface Grade {
  readonly question: GradeQuestion;
  /** Slack user id. */
  readonly by: string;
  readonly answer: boolean;
}

/** What stands now: of each person's answers to a question the last. */
export function gradesOf(events: readonly IncidentEvent[]): readonly Grade[] {
  const last = new Map<string, Grade>();
  for (const event of events)
    if (event.type === 'grade.given') {
      const { question, by, answer } = event;
      last.set(`${question} ${by}`, { question, by, answer });
    }
  return [...last.values()];
}
