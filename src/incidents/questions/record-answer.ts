import { type Action, stepsOf } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import type { ActionId, IncidentId, ToolCallId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { toldChanges } from '../../core/told-changes.ts';
import { blastOf, costOf, mineOf, proposedOf, runOf, whyRun } from './answer-actions.ts';
import {
  askedWhether,
  causeOf,
  consideredOf,
  doubtOf,
  evidenceOf,
  impactOf,
  ruledOutOf,
  runbookOf,
} from './answer-cause.ts';
import { ALL_CHANGES, changesOf } from './answer-changes.ts';
import { approvalOf, askedOf, denialOf, expiryOf, overriddenOf, stoppedOf } from './answer-decisions.ts';
import { type Around, type Line, newestFirst } from './answer-lines.ts';
import { calledOf, closingOf, rungOf } from './answer-people.ts';
import { rightsOf, sentryOf } from './answer-sentry.ts';
import {
  countOf,
  endOf,
  helpedOf,
  nextOf,
  nowOf,
  openHere,
  overOf,
  severityOf,
  timeOf,
} from './answer-state.ts';
import { undoableOf, undoneOf, undosOf } from './answer-undo.ts';
import { comparedLast, usualOf } from './answer-usual.ts';
import { readChangesAsked } from './changes-asked.ts';
import { lastDiagnosis } from './format-cause.ts';
import { isAny } from './on-record.ts';
import { type RecordQuestion, readQuestion } from './read-question.ts';
import { isOwn, wordsOf } from './sentence.ts';
import type { Subject } from './subjects.ts';
import { askedWhyNot, whyNot } from './why-not.ts';

const MAX_LINES = 3;

/** What an answer rests on, which its reader can open. */
export type Source =
  | { readonly kind: 'call'; readonly id: ToolCallId }
  | { readonly kind: 'action'; readonly id: ActionId }
  | { readonly kind: 'incident'; readonly id: IncidentId };

/**
 * What became of a question. `none`: the record says that there was nothing or nobody of it. `not_on_record`: it is understood, and no
 * record holds that. `not_understood`: whether it is on record cannot be told.
 */
export type Outcome = 'answered' | 'none' | 'not_on_record' | 'not_understood';

export interface RecordAnswer {
  readonly outcome: Outcome;
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
    const reason = whyNot(record, notDone, around);
    return reason && { ...reason, lines: reason.lines.slice(0, MAX_LINES), source };
  }
  // “is it still blocked?” asks how it stands, and for no cause.
  const weighed = /\bstill\b/i.test(text) ? null : askedWhether(text);
  const excluded = weighed === null ? null : ruledOutOf(record, weighed);
  if (excluded !== null) return { outcome: 'answered', lines: [excluded], source: sourceOf('cause', record) };
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
  if (around.elsewhere && asked.includes('usual') && !isAny('usual', record, around)) return null;
  const each = Math.max(1, Math.floor(MAX_LINES / Math.min(MAX_LINES, asked.length)));
  const lines = known.flatMap((question) => linesOfQuestion(question, record, around, each));
  const rest = read.filter(({ question }) => question === null).map((part): Line => notKnown(part.text));
  if (lines.length === 0) return null;
  return {
    outcome: outcomeOf(known, lines, record, around),
    lines: [...lines.slice(0, MAX_LINES - Math.min(1, rest.length)), ...rest.slice(0, 1)],
    source: sourceOf(asked[0], record),
  };
}

function outcomeOf(
  known: readonly RecordQuestion[],
  [line]: readonly Line[],
  record: IncidentRecord,
  around: Around,
): Outcome {
  if (line === NOTHING_BEFORE) return 'not_on_record';
  const asked = known.flatMap(({ subjects }) => subjects);
  if (asked.some((subject) => isAny(subject, record, around))) return 'answered';
  // Nobody could be asked: that is another thing than that there was none.
  const changes = asked.includes('changes') ? toldChanges(record.events) : null;
  return changes?.found.answer === 'could_not_look' || asked.includes('usual') ? 'not_on_record' : 'none';
}

const NOTHING_BEFORE: Line = ['Nothing before that is on record.'];

const notKnown = (text: string): Line => [`“${clipLine(text, 60)}” is not on record.`];

/** A question for another incident's record is not answered from this one's. */
export const namesAnother = ({ incident }: IncidentRecord, text: string): boolean =>
  [...text.matchAll(/\binc-\d+\b/gi)].some(([id]) => id.toUpperCase() !== incident.id);

/** Each question of a text with what it asks for; null for what no record holds. */
function readParts(record: IncidentRecord, text: string, before: readonly string[]) {
  const own = ownWords(record);
  const previous = before.reduce<RecordQuestion | null>(
    (sofar, each) => (namesAnother(record, each) ? null : readOne(each, record, own, sofar)),
    null,
  );
  const whole = readOne(text, record, own, previous);
  if (whole !== null) return [{ text, question: whole }];
  let last = previous;
  return text
    .split(/[?;\n]+\s*|,?\s+and\s+(?=(?:who|what|when|why|how|which|where|is|was|did)\b)/i)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      last = readOne(part, record, own, last);
      return { text: part, question: last };
    });
}

/** What was changed around it is asked by whole questions, where somebody has looked; all else by its words. */
function readOne(
  text: string,
  record: IncidentRecord,
  own: ReadonlySet<string>,
  before: RecordQuestion | null,
): RecordQuestion | null {
  const changes = readChangesAsked(text, record);
  return changes === null ? readQuestion(text, own, before) : { subjects: ['changes'], why: false, changes };
}

function linesOfQuestion(
  question: RecordQuestion,
  given: IncidentRecord,
  around: Around,
  each: number,
): readonly Line[] {
  const { subjects, why, earlier = false, person, changes } = question;
  const record = meantOf(given, question);
  if (record === null) return [];
  if (changes !== undefined) return changesOf(record, changes, around);
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
  return [NOTHING_BEFORE];
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
  const who: readonly (string | null)[] =
    verb === 'denied'
      ? [
          ...record.actions.flatMap(({ state, decidedBy }) => (state === 'denied' ? [decidedBy] : [])),
          ...overriddenOf(record).map(({ saidBy }) => saidBy),
        ]
      : record.actions.flatMap(({ approvedBy }) => approvedBy);
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

const ofAction: ReadonlySet<Subject> = new Set([
  'approval',
  'denial',
  'asked',
  'run',
  'proposed',
  'blast',
  'mine',
  'undone',
  'undoable',
]);

/** The tool call, the action, else the incident that holds what is asked for. */
function sourceOf(subject: Subject | undefined, record: IncidentRecord): Source {
  const [action] =
    subject === 'undone' || subject === 'undoable'
      ? [...undosOf(record), ...newestFirst(record)]
      : newestFirst(record);
  if (action && subject !== undefined && ofAction.has(subject)) return { kind: 'action', id: action.id };
  const looked = record.events.findLast((event) => event.type === 'changes.looked');
  if (subject === 'changes' && looked?.type === 'changes.looked')
    return { kind: 'call', id: looked.toolCallId };
  const compared = comparedLast(record);
  if (subject === 'usual' && compared) return { kind: 'call', id: compared.id };
  const last = lastDiagnosis(record);
  const id = last?.diagnosis.evidence.flatMap(({ toolCallIds }) => toolCallIds)[0];
  if (id && (subject === 'cause' || subject === 'evidence' || subject === 'doubt'))
    return { kind: 'call', id };
  return { kind: 'incident', id: record.incident.id };
}

/** How it stands, in a line or two: for who only mentions the bot. */
export function stateLines(record: IncidentRecord): readonly Line[] {
  return nowOf(record);
}

/** Whether a question is about how it stands, which a look at the live system tells better than the record. */
export function asksHowItIs(record: IncidentRecord, text: string): boolean {
  const subjects = readQuestion(text, ownWords(record))?.subjects ?? [];
  return subjects.some((subject) => ['now', 'over', 'helped'].includes(subject));
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
      return consideredOf(record);
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
      return [
        [`It is about ${record.incident.target ?? 'no target that I am configured for'}.`],
        ...(isAny('impact', record, around) ? impactOf(record) : []),
      ];
    case 'evidence':
      return evidenceOf(record);
    case 'stopped':
      return [stoppedOf(record)];
    case 'undone':
      return undoneOf(record);
    case 'undoable':
      return undoableOf(record, around);
    case 'proposed':
      return why ? whyRun(record) : proposedOf(record, around);
    case 'runbook':
      return [runbookOf(record)];
    case 'blast':
      return blastOf(record);
    case 'impact':
      return impactOf(record);
    case 'severity':
      return [severityOf(record)];
    case 'doubt':
      return doubtOf(record);
    case 'helped':
      return helpedOf(record);
    case 'mine':
      return mineOf(record, around);
    case 'sentry':
      return sentryOf(record);
    case 'rights':
      return rightsOf(record);
    case 'changes':
      return changesOf(record, ALL_CHANGES, around);
    case 'usual':
      return usualOf(record);
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
