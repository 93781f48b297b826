import type { IncidentRecord } from '../../core/incident-record.ts';
import { costOf, runOf, whyRun } from './answer-actions.ts';
import { causeOf, evidenceOf } from './answer-cause.ts';
import { approvalOf, askedOf, denialOf, stoppedOf } from './answer-decisions.ts';
import type { Around, Line } from './answer-lines.ts';
import { countOf, endOf, nextOf, nowOf, openHere, overOf, timeOf } from './answer-state.ts';
import { askedWhyNot, readQuestion, type Subject, wordsOf } from './read-question.ts';
import { whyNot } from './why-not.ts';

const MAX_LINES = 3;

/** The answer to a question that the record alone answers, in three lines at most; null: it does not. */
export function answerFromRecord(
  record: IncidentRecord,
  text: string,
  around: Around,
): readonly Line[] | null {
  const notDone = askedWhyNot(text);
  if (notDone !== null) return whyNot(record, notDone, around)?.slice(0, MAX_LINES) ?? null;
  const question = readQuestion(text, ownWords(record));
  if (question === null) return null;
  const { subjects: asked, why } = question;
  const unknown =
    !record.events.some(({ type }) => type === 'diagnosis.concluded') && record.actions.length === 0;
  if (around.elsewhere && unknown && (why || asked.includes('cause') || asked.includes('evidence')))
    return null;
  const subjects = question.subjects.slice(0, MAX_LINES);
  const each = Math.max(1, Math.floor(MAX_LINES / subjects.length));
  return subjects
    .flatMap((subject) => linesOf(subject, question.why, record, around).slice(0, each))
    .slice(0, MAX_LINES);
}

/** How it stands, in a line or two: for who only mentions the bot. */
export function stateLines(record: IncidentRecord): readonly Line[] {
  return nowOf(record);
}

/** Whether a question is about how it stands, which a look at the live system tells better than the record. */
export function asksHowItIs(record: IncidentRecord, text: string): boolean {
  const subjects = readQuestion(text, ownWords(record))?.subjects ?? [];
  return subjects.includes('now') || subjects.includes('over');
}

/** Whether a text asks for the list of what is open, whatever incident it is said about. */
export function asksForOpen(text: string): boolean {
  return readQuestion(text, new Set())?.subjects[0] === 'open';
}

function linesOf(subject: Subject, why: boolean, record: IncidentRecord, around: Around): readonly Line[] {
  switch (subject) {
    case 'approval':
      return why ? whyRun(record) : approvalOf(record, around);
    case 'denial':
      return denialOf(record);
    case 'asked':
      return askedOf(record, around);
    case 'run':
      return why ? whyRun(record) : runOf(record);
    case 'cost':
      return [costOf(record)];
    case 'over':
      return why ? [endOf(record)] : overOf(record);
    case 'end':
      return [endOf(record)];
    case 'now':
      return nowOf(record);
    case 'open':
      return openHere(record, around);
    case 'next':
      return [nextOf(record, around)];
    case 'time':
      return [timeOf(record, around)];
    case 'count':
      return countOf(record);
    case 'cause':
      return [causeOf(record)];
    case 'target':
      return [[`It is about ${record.incident.target ?? 'no target that I am configured for'}.`]];
    case 'evidence':
      return evidenceOf(record);
    case 'stopped':
      return [stoppedOf(record)];
    default: {
      const never: never = subject;
      return never;
    }
  }
}

/** With what words the incident's target and actions may be spoken of. */
export function ownWords({ incident, actions }: IncidentRecord): ReadonlySet<string> {
  const texts = [
    incident.target ?? '',
    ...actions.flatMap(({ target, tool, command, why, blastRadius, preflight }) => [
      target,
      tool,
      command,
      why,
      blastRadius,
      ...preflight,
    ]),
  ];
  const words = texts.flatMap(wordsOf);
  return new Set(
    [...words, ...words.flatMap((word) => word.split(/[_.-]+/))].filter((word) => word.length > 2),
  );
}
