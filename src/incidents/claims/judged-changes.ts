import { describeChange, describeWhen } from '../../core/describe-changes.ts';
import type { Diagnosis, Evidence } from '../../core/diagnosis.ts';
import type { Incident } from '../../core/incident.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import type { JudgedChange, RelatedChange, WhatChanged } from '../../core/what-changed.ts';
import {
  beginOf,
  isSameAct,
  marksOf,
  namesMark,
  namesWords,
  showsMark,
  withoutWhatWasThere,
} from './change-marks.ts';

/** So many suspects are told that nobody has named. */
const MOST_SUSPECTS = 5;
/** Clocks of two machines differ. */
const CLOCK_MS = 60_000;

/** What a diagnosis stands on, beside its own words. */
export interface BehindChanges {
  readonly incident: Incident;
  /** All that succeeded in this incident. */
  readonly read: readonly ToolCall[];
  /** The ids of this round's calls. */
  readonly current: ReadonlySet<string>;
  /** The claims that stand. */
  readonly evidence: readonly Evidence[];
  /** When it began, as far as a read shows it. */
  readonly onset: string | undefined;
  /** A cause is named, and a read of the live system carries it. */
  readonly isCause: boolean;
}

/** The changes of a diagnosis, each with the part that the record bears out. */
export interface JudgedChanges {
  readonly changes: readonly JudgedChange[];
  /** What was said of a change, as which part, and is not so. */
  readonly dropped: readonly {
    readonly claim: string;
    readonly reason: string;
    readonly part: JudgedChange['part'];
  }[];
}

/** An answer to “what was changed?” that this incident was given. */
interface Answer {
  readonly call: ToolCall;
  readonly found: WhatChanged;
}

/** A change of an answer, and what is said of it. */
interface Named {
  readonly answer: Answer;
  readonly change: RelatedChange;
  readonly part: JudgedChange['part'];
  /** The calls behind what is said, the answer apart. */
  readonly cited: readonly ToolCall[];
}

/**
 * A change is a suspect, and never a cause by its time alone: it is the cause only where a read of the live system in this
 * round shows what it put there, the diagnosis names that, and no other suspect is left. Suspects that nobody has named are
 * told all the same. For a runbook nobody claims anything: code names the cause there, by a stricter rule.
 */
export function judgeChanges(diagnosis: Diagnosis, behind: BehindChanges): JudgedChanges {
  const answers = answersIn(behind.read);
  const { named, dropped } = nameAll(diagnosis, behind, answers);
  const all = [...named, ...unnamed(diagnosis, behind, answers, named)];
  const isRunbook = diagnosis.origin === 'runbook';
  const reasons = [...dropped];
  let hasCause = false;
  const judged = all.map((one): Named => {
    if (one.part === 'unrelated' || (one.part === 'suspect' && !isRunbook)) return one;
    const carried = carriedBy(one, all, diagnosis, behind);
    if (typeof carried === 'string') {
      if (!isRunbook) reasons.push({ claim: saying(one.change, 'cause'), reason: carried, part: 'cause' });
      return { ...one, part: 'suspect', cited: [] };
    }
    // What its sender tells and an own look has seen, too, is one cause.
    if (hasCause) return { ...one, part: 'suspect', cited: [] };
    hasCause = true;
    return { ...one, part: 'cause', cited: carried };
  });
  const changes = judged.map(({ answer, change, part, cited }) => ({
    ref: change.ref,
    title: describeChange(change),
    part,
    toolCallIds: [...new Set([answer.call, ...cited].map(({ id }) => id))],
  }));
  return { changes, dropped: reasons };
}

/** The answers among some calls, oldest first. */
export function answersIn(calls: readonly ToolCall[]): readonly Answer[] {
  return calls.flatMap((call) => {
    const found = call.result as unknown as WhatChanged | null;
    return isAnswer(call) && Array.isArray(found?.suspects) && Array.isArray(found.afterwards)
      ? [{ call, found }]
      : [];
  });
}

export const isAnswer = ({ tool, state }: ToolCall): boolean => tool === 'what_changed' && state === 'ok';

const PARTS: Readonly<Record<JudgedChange['part'], string>> = {
  cause: 'is the cause',
  suspect: 'may be the cause',
  unrelated: 'has nothing to do with it',
};

const saying = (change: RelatedChange, part: JudgedChange['part']): string =>
  `“${describeChange(change)}” ${PARTS[part]}.`;

/** What a model says of each change, as far as there is such a change and that may be said of it. */
function nameAll(
  { changes = [], origin }: Diagnosis,
  behind: BehindChanges,
  answers: readonly Answer[],
): { readonly named: readonly Named[]; readonly dropped: JudgedChanges['dropped'] } {
  const named: Named[] = [];
  const dropped: JudgedChanges['dropped'][number][] = [];
  for (const { ref, part, toolCallIds } of origin === 'runbook' ? [] : changes) {
    const found = findChange(ref, toolCallIds, answers);
    if (typeof found === 'string') {
      dropped.push({ claim: `“${ref}” ${PARTS[part]}.`, reason: found, part });
      continue;
    }
    const { answer, change } = found;
    if (named.some((one) => isSame(one.change, change))) continue;
    const cited = behind.read.filter((call) => toolCallIds.includes(call.id) && !isAnswer(call));
    if (change.when === 'after' && part !== 'unrelated')
      dropped.push({ claim: saying(change, part), reason: `It was changed ${describeWhen(change)}.`, part });
    else if (change.when !== 'after' && part === 'unrelated' && !cited.some(isReadOf(change, behind))) {
      dropped.push({
        claim: saying(change, part),
        reason: 'It cites no live read of what was changed.',
        part,
      });
      named.push({ answer, change, part: 'suspect', cited: [] });
    } else named.push({ answer, change, part, cited });
  }
  return { named, dropped };
}

/** By the answer that is cited; without one, by the only change that any answer calls so. */
function findChange(
  ref: string,
  toolCallIds: readonly string[],
  answers: readonly Answer[],
): Pick<Named, 'answer' | 'change'> | string {
  const cited = answers.filter(({ call }) => toolCallIds.includes(call.id));
  const found = (cited.length > 0 ? cited : answers).flatMap((answer) => {
    const change = changesOf(answer).find((one) => one.ref === ref);
    return change === undefined ? [] : [{ answer, change }];
  });
  const [first] = found;
  if (first === undefined) return 'No answer to what was changed has it.';
  return found.every(({ change }) => isSame(change, first.change))
    ? first
    : 'Several answers have a change of that name: the call is not cited.';
}

/** Suspects of this round's first answer that nobody has judged; those of neighbours only where there are none of *it*. */
function unnamed(
  { verdict }: Diagnosis,
  { current }: BehindChanges,
  answers: readonly Answer[],
  named: readonly Named[],
): readonly Named[] {
  const answer = answers.find(({ call }) => current.has(call.id));
  if (answer === undefined || verdict === 'healthy') return [];
  const { suspects } = answer.found;
  const ofIt = suspects.filter(({ touches }) => touches === 'it');
  return (ofIt.length > 0 ? ofIt : suspects)
    .filter((change) => !named.some((one) => isSame(one.change, change)))
    .slice(0, MOST_SUSPECTS)
    .map((change) => ({ answer, change, part: 'suspect', cited: [] }));
}

/** The live reads that show it to be the cause, or why it is none, as a sentence. */
function carriedBy(
  { answer, change, cited }: Named,
  all: readonly Named[],
  diagnosis: Diagnosis,
  behind: BehindChanges,
): readonly ToolCall[] | string {
  if (!behind.isCause) return 'No live read carries a cause.';
  const late = whyLate(change, behind.onset, answer.found.beganAt);
  if (late !== null) return late;
  const showing = readsThatShow(change, cited, diagnosis, behind);
  if (showing.length === 0)
    return 'A change is no cause by its time alone: no live read that is cited shows what it changed, and the cause does not name that.';
  if (!isThere(change, showing, behind.incident))
    return `It touched ${change.through}, and no live read of that is cited.`;
  const rival = rivalsOf(change, all, behind)[0];
  if (rival === undefined && isCut(behind))
    return 'There were more suspects before it began than are told here, and nothing speaks against those.';
  return rival === undefined
    ? showing
    : `No read speaks against another suspect: “${describeChange(rival)}”, ${describeWhen(rival)}.`;
}

function whyLate(change: RelatedChange, onset: string | undefined, beganAt: string): string | null {
  const began = onset === undefined ? null : Date.parse(onset);
  if (began !== null && began < beginOf(change) - CLOCK_MS)
    return 'What was read shows that it began before that change.';
  // A later onset makes nothing earlier: the alert was there.
  const isBefore =
    change.when === 'before' ||
    (began !== null && Math.min(began, Date.parse(beganAt)) >= Date.parse(change.at));
  return isBefore ? null : 'It is not known to have been changed before it began.';
}

/** Live reads of this round that show what the change put there, where the cause or a claim on that read names the same. */
function readsThatShow(
  change: RelatedChange,
  cited: readonly ToolCall[],
  { origin, rootCause }: Diagnosis,
  { incident, read, current, evidence }: BehindChanges,
): readonly ToolCall[] {
  const { made, put, names, words } = marksOf(change, incident);
  const isRunbook = origin === 'runbook';
  // That the same service is changed and is in trouble is no more than place and time: somebody has to say so.
  const marks = isRunbook ? put : [...made, ...names];
  // Two services may have the same version, and two settings the same value.
  const called = [...made, ...names].filter((name) => !put.includes(name));
  const isOfIt = (call: ToolCall): boolean =>
    !isRunbook || called.length === 0 || called.some((name) => showsMark(call, name));
  return read.filter((call) => {
    if (call.target === null || !current.has(call.id)) return false;
    const claims = evidence.filter(({ toolCallIds }) => toolCallIds.includes(call.id));
    if (claims.length === 0 && !cited.includes(call)) return false;
    const says = withoutWhatWasThere([rootCause, ...claims.map(({ claim }) => claim)].join('\n'));
    return (
      (isOfIt(call) && marks.some((mark) => namesMark(says, mark) && showsMark(call, mark))) ||
      (!isRunbook && namesWords(says, call, words))
    );
  });
}

/** Of the incident's own system, or for a change elsewhere by a read of where that is. */
function isThere(
  { touches, through, where }: RelatedChange,
  showing: readonly ToolCall[],
  { target }: Incident,
): boolean {
  if (touches === 'it') return true;
  const isOfTarget = target !== null && where.includes(target.toLowerCase());
  return isOfTarget || showing.some((call) => [through, ...where].includes(call.target?.toLowerCase() ?? ''));
}

/** More changes touched it than any answer of this round tells. */
const isCut = ({ read, current }: BehindChanges): boolean =>
  answersIn(read).some(({ call, found }) => current.has(call.id) && (found.cut ?? 0) > 0);

/** Other suspects of *it* that nothing speaks against, by any answer of this round: one may have been asked about a part only. */
function rivalsOf(
  change: RelatedChange,
  all: readonly Named[],
  { incident, read, current }: BehindChanges,
): readonly RelatedChange[] {
  const out = all.filter(({ part }) => part === 'unrelated').map((one) => one.change);
  return answersIn(read)
    .filter(({ call }) => current.has(call.id))
    .flatMap(({ found }) => found.suspects)
    .filter((other) => other.touches === 'it')
    .filter(
      (other) => ![change, ...out].some((one) => isSame(one, other) || isSameAct(one, other, incident)),
    );
}

/**
 * A live read of this round of what a change touched, with a claim that names it: only that can speak against it, and never
 * where it shows what the change put there.
 */
const isReadOf =
  (change: RelatedChange, { incident, current, evidence }: BehindChanges) =>
  (call: ToolCall): boolean => {
    if (call.target === null || !current.has(call.id)) return false;
    const { made, put, names, words } = marksOf(change, incident);
    const marks = [...made, ...names];
    const claims = evidence.filter(({ toolCallIds }) => toolCallIds.includes(call.id));
    const said = claims.map(({ claim }) => claim).join('\n');
    if (claims.length === 0 || put.some((mark) => showsMark(call, mark))) return false;
    if (marks.some((mark) => namesMark(said, mark) && showsMark(call, mark))) return true;
    if (namesWords(said, call, words)) return true;
    // Any read of the incident's own system is one of where it was, and says nothing of a thing in it that has a name.
    if (change.touches === 'it' && marks.length > 0) return false;
    return [change.through, ...change.where].includes(call.target.toLowerCase());
  };

export const changesOf = ({ found }: Answer): readonly RelatedChange[] => [
  ...found.suspects,
  ...found.afterwards,
];

const isSame = (one: RelatedChange, other: RelatedChange): boolean =>
  one.source === other.source && one.id === other.id;
