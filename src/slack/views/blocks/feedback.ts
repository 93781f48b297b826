import { type GradeQuestion, gradesOf } from '../../../core/grade.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { type Block, bold, button, buttons, paragraph, person, prose, type Span, words } from './build.ts';

const asked: Readonly<Record<GradeQuestion, string>> = {
  cause_right: 'Was the cause right?',
  useful: 'Was this useful?',
};

const NAMED = 5;

/** `sentry_grade_useful_yes`; the value names the incident. */
export const gradeAction = (question: GradeQuestion, answer: boolean): string =>
  `sentry_grade_${question}_${answer ? 'yes' : 'no'}`;

/**
 * One question with its buttons, and who said what so far: whether the cause was right, and where none was found, whether it was
 * useful. Nothing where there is no diagnosis to grade.
 */
export function feedbackBlocks(record: IncidentRecord): readonly Block[] {
  const told = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  if (told?.type !== 'diagnosis.concluded') return [];
  const { verdict, unexplained } = told.diagnosis;
  const question = verdict === 'cause_found' && unexplained === undefined ? 'cause_right' : 'useful';
  return [
    prose(paragraph(bold(asked[question]), ...answers(record, question))),
    buttons(
      button({ text: 'Yes', action: gradeAction(question, true), value: record.incident.id }),
      button({ text: 'No', action: gradeAction(question, false), value: record.incident.id }),
    ),
  ];
}

function answers(record: IncidentRecord, question: GradeQuestion): readonly Span[] {
  const given = gradesOf(record.events).filter((grade) => grade.question === question);
  return [true, false].flatMap((answer) => {
    const people = given.filter((grade) => grade.answer === answer);
    return people.length === 0
      ? []
      : [
          words(answer ? '  Yes: ' : '  No: '),
          ...people.slice(0, NAMED).flatMap(({ by }, at) => [...(at > 0 ? [words(', ')] : []), person(by)]),
          ...(people.length > NAMED ? [words(` and ${people.length - NAMED} more`)] : []),
        ];
  });
}
