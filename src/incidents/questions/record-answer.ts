import { type Action, stepsOf } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import type { ActionId, IncidentId, ToolCallId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { costOf, runOf, whyRun } from './answer-actions.ts';
import { askedWhether, causeOf, evidenceOf, ruledOutOf } from './answer-cause.ts';
import { approvalOf, askedOf, denialOf, expiryOf, stoppedOf } from './answer-decisions.ts';
import { type Around, type Line, newestFirst } from './answer-lines.ts';
import { calledOf, closingOf, rungOf } from './answer-people.ts';
import { countOf, endOf, nextOf, nowOf, openHere, overOf, timeOf } from './answer-state.ts';
import { lastDiagnosis } from './format-cause.ts';
import { type RecordQuestion, readQuestion } from './read-question.ts';
import { isEnglish, isOwn, wordsOf } from './sentence.ts';
import type { Subject } from './subjects.ts';
import { askedWhyNot, whyNot } from './why-not.ts';

const MAX_LINES = 3;

/** What an answer rests on, which its reader can open. */
export type Source =
  | { readonly kind: 'call'; readonly id: ToolCallId }
  | { readonly kind: 'action'; readonly id: ActionId }
  | { readonly kind: 'incident'; readonly id: IncidentId };

export interface RecordAnswer {
  readonly lines: readonly Line[];
  readonly source: Source;
}

/** The answer to a question that the record alone answers, in three lines at most; null: it does not. */
export function answerFromRecord(
  record: IncidentRecord,
  text: string,
  around: Around,
): readonly Line[] | null {
  return answerWithSource(record, text, around)?.lines ?? null;
}

/** The same, with what it rests on. `before`: what the same person asked in that thread just before, oldest first. */
export function answerWithSource(
  record: IncidentRecord,
  text: string,
  around: Around,
  before: readonly string[] = [],
): RecordAnswer | null {
  const { incident } = record;
  const source: Source = { kind: 'incident', id: incident.id };
  if (namesAnother(record, text)) return null;
  const notDone = askedWhyNot(text);
  if (notDone !== null) {
    const lines = whyNot(record, notDone, around)?.slice(0, MAX_LINES);
    return lines ? { lines, source } : null;
  }
  // “is it still blocked?” asks how it stands, and for no cause.
  const weighed = /\bstill\b/i.test(text) ? null : askedWhether(text);
  const excluded = weighed === null ? null : ruledOutOf(record, weighed);
  if (excluded !== null) return { lines: [excluded], source: sourceOf('cause', record) };
  const read = readParts(record, text, before);
  if (read.length === 0 || read.some(({ question }) => question === null && around.elsewhere)) return null;
  const known = read.flatMap(({ question }) => question ?? []);
  const asked = known.flatMap(({ subjects }) => subjects);
  if (asked.length === 0) return null;
  const unknown =
    !record.events.some(({ type }) => type === 'diagnosis.concluded') && record.actions.length === 0;
  const why = known.some((question) => question.why);
  if (around.elsewhere && unknown && (why || asked.includes('cause') || asked.includes('evidence')))
    return null;
  const each = Math.max(1, Math.floor(MAX_LINES / Math.min(MAX_LINES, asked.length)));
  const lines = known.flatMap((question) => linesOfQuestion(question, record, around, each));
  const rest = read.filter(({ question }) => question === null).map((part): Line => notKnown(part.text));
  if (lines.length === 0) return null;
  return {
    lines: [...lines.slice(0, MAX_LINES - Math.min(1, rest.length)), ...rest.slice(0, 1)],
    source: sourceOf(asked[0], record),
  };
}

const notKnown = (text: string): Line => [`“${clipLine(text, 60)}” is not on record.`];

/** A question for another incident's record is not answered from this one's. */
export const namesAnother = ({ incident }: IncidentRecord, text: string): boolean =>
  [...text.matchAll(/\binc-\d+\b/gi)].some(([id]) => id.toUpperCase() !== incident.id);

/** Each question of a text with what it asks for; null for what no record holds. */
function readParts(record: IncidentRecord, text: string, before: readonly string[]) {
  const own = ownWords(record);
  const previous = before.reduce<RecordQuestion | null>(
    (sofar, each) => (namesAnother(record, each) ? null : readQuestion(each, own, sofar)),
    null,
  );
  const whole = readQuestion(text, own, previous);
  if (whole !== null) return [{ text, question: whole }];
  let last = previous;
  return text
    .split(/[?;\n]+\s*|,?\s+and\s+(?=(?:who|what|when|why|how|which|where|is|was|did)\b)/i)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      last = readQuestion(part, own, last);
      return { text: part, question: last };
    });
}

function linesOfQuestion(
  question: RecordQuestion,
  given: IncidentRecord,
  around: Around,
  each: number,
): readonly Line[] {
  const { subjects, why, earlier = false, person } = question;
  const record = meantOf(given, question);
  if (record === null) return [];
  if (earlier) return earlierOf(subjects[0], record, around);
  const lines = subjects
    .slice(0, MAX_LINES)
    .flatMap((subject) => linesOf(subject, why, record, around).slice(0, each));
  return person === undefined ? lines : withPerson(person, subjects, record, around, lines);
}

/** The record with only those plans that a question speaks of; null: none is, so the question is for something else. */
function meantOf(record: IncidentRecord, { subjects, own = [] }: RecordQuestion): IncidentRecord | null {
  const about = own.filter((word) => !/[-_.]/.test(word));
  if (about.length === 0 || !subjects.some((subject) => ['approval', 'denial', 'run'].includes(subject)))
    return record;
  const speaksOf = (action: Action): boolean => {
    const words = ownWords({ ...record, actions: [action] });
    return about.every((word) => isOwn(word, words));
  };
  const actions = record.actions.filter((action) => stepsOf(record.actions, action).some(speaksOf));
  return actions.length === 0 ? null : { ...record, actions };
}

/** What was before the newest of what was told. */
function earlierOf(subject: Subject | undefined, record: IncidentRecord, around: Around): readonly Line[] {
  const diagnoses = record.events.filter(({ type }) => type === 'diagnosis.concluded');
  if (subject === 'cause' && diagnoses.length > 1) {
    const events = record.events.slice(0, record.events.indexOf(diagnoses.at(-1)!));
    return [['Before that: ', ...causeOf({ ...record, events })]];
  }
  if (subject === 'run' || subject === 'approval') {
    const [newest, ...older] = newestFirst(record).filter(
      (action) => subject === 'approval' || action.startedAt !== null,
    );
    const actions = record.actions.filter(({ planId }) => older.some((each) => each.planId === planId));
    if (newest !== undefined && older.length > 0)
      return linesOf(subject, false, { ...record, actions }, around).slice(0, 1);
  }
  return [['Nothing before that is on record.']];
}

/** Whether it was who was asked for, by what the record says of it. */
function withPerson(
  person: string,
  subjects: readonly Subject[],
  record: IncidentRecord,
  around: Around,
  lines: readonly Line[],
): readonly Line[] {
  const verb = subjects.includes('approval') ? 'approved' : subjects.includes('denial') ? 'denied' : null;
  if (verb === null) return lines;
  const who = record.actions.flatMap<string | null>(({ state, approvedBy, decidedBy }) =>
    verb === 'denied' ? (state === 'denied' ? [decidedBy] : []) : [...approvedBy],
  );
  const isMeant = (id: string | null): boolean =>
    id !== null &&
    (id.toLowerCase() === person.toLowerCase() ||
      wordsOf(around.names?.get(id) ?? '').includes(person.toLowerCase()));
  if (who.some(isMeant)) return [['Yes. ', ...(lines[0] ?? [])], ...lines.slice(1)];
  const isId = /^[UW][A-Z0-9]+$/.test(person);
  // A nickname may be somebody's: without their names nothing is said of who it was not.
  const no: Line = isId
    ? ['No, not ', { person }, '. ']
    : [`No “${clipLine(person, 40)}” is on record for that. `];
  return [[...no, ...(lines[0] ?? [])], ...lines.slice(1)];
}

/** The tool call, the action, else the incident that holds what is asked for. */
function sourceOf(subject: Subject | undefined, record: IncidentRecord): Source {
  const [action] = newestFirst(record);
  if (action && subject !== undefined && ['approval', 'denial', 'asked', 'run'].includes(subject))
    return { kind: 'action', id: action.id };
  const last = lastDiagnosis(record);
  const id = last?.diagnosis.evidence.flatMap(({ toolCallIds }) => toolCallIds)[0];
  if (id && (subject === 'cause' || subject === 'evidence')) return { kind: 'call', id };
  return { kind: 'incident', id: record.incident.id };
}

/**
 * What is said where the record holds no answer: that it does not, what it does hold that is near, and what could be looked at.
 *
 * @param readable what one look could read now, in words; null: nothing can be read
 */
export function notOnRecord(record: IncidentRecord, text: string, readable: string | null): RecordAnswer {
  const { incident } = record;
  const source: Source = { kind: 'incident', id: incident.id };
  const another = /\binc-\d+\b/i.exec(text)?.[0].toUpperCase();
  const lines = (...said: readonly Line[]): RecordAnswer => ({ lines: said, source });
  if (another !== undefined && another !== incident.id)
    return lines([
      `That is not on record here: this is ${incident.id}. Ask for the other with “why ${another}”.`,
    ]);
  if (!isEnglish(text))
    return lines([
      'I can only read English without a model, so I cannot tell whether that is on record. “why” tells all of it.',
    ]);
  const isForNow =
    /\b(?:is|are|now|currently|rn|still|lag|how (?:many|much|full|big))\b/i.test(text) &&
    !/\b(?:was|were|did|had|yesterday|who|may|can|could|will|am)\b/i.test(text);
  const near =
    /\b(?:did|have|has|was)\b/i.test(text) && !/\bwho|how|before\b/i.test(text)
      ? runOf(record).slice(0, 1)
      : [];
  const head: Line = [
    `That is not on record. What is: the cause, what ran and who approved it, when it began and how it stands.`,
  ];
  if (isForNow)
    return lines(
      ['That is not on record.'],
      [
        readable === null
          ? `I cannot look at it: nothing of ${incident.target ?? 'it'} can be read here.`
          : `May I look? Mention me with “now”, and I read this: ${readable}.`,
      ],
    );
  if (/^(?:\W|please|so|and|ok)*(?:can|could|will|would) you\b/i.test(text))
    return lines([
      'A question does nothing, and that is not on record. What I propose is run from its card, once somebody approves it.',
    ]);
  if (/\b(?:may|can|am|should) i\b/i.test(text))
    return lines([
      'That is not on record: I know who may approve here, not what else you may do. Who may approve stands on the card.',
    ]);
  return lines(...(near.length > 0 ? [['That is not on record. What is:'] as Line, ...near] : [head]));
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
    case 'called':
      return [calledOf(record)];
    case 'rung':
      return rungOf(record);
    case 'closing':
      return [closingOf(record)];
    case 'expiry':
      return [expiryOf(record)];
    case 'ruledOut':
      return [ruledOutOf(record, []) ?? ['Nothing has been ruled out on record.']];
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
