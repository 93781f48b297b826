import type { Diagnosis } from '../../../core/diagnosis.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { CLAUDES_WORDS, isModels } from '../../../core/model-words.ts';
import { saysOtherwise } from '../../../incidents/claims/says-otherwise.ts';
import { bold, paragraph, prose, words } from './build.ts';
import { type Concluded, diagnosesOf } from './diagnosis.ts';
import type { Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

/** Of a cause: both, the words beside them and whose they are make at most 250 characters. */
const SHOWN_CAUSE = 76;

/** What shows that somebody has read a diagnosis, or could act on it. */
const ACTED: ReadonlySet<IncidentEvent['type']> = new Set([
  'action.proposed',
  'action.approved',
  'action.seconded',
  'action.denied',
  'denial.taken_back',
  'action.asked_again',
  'action.edited',
  'hint.given',
  'question.asked',
  'read.asked',
  'investigation.asked',
  'incident.acknowledged',
  'grade.given',
]);

/**
 * The n-th diagnosis (from 1) takes back what stood before it, and somebody may have acted on that: a new line, because nobody
 * sees an edit. Null: nothing is taken back, or nobody can have read it.
 */
export function drawHeadsUp(record: IncidentRecord, now: Concluded, number: number): Slot | null {
  const { events, incident } = record;
  const all = diagnosesOf(events).slice(0, number);
  const before = all.at(-2);
  // What is there again after its end is told by a line of its own, and what was said then was of then.
  if (!before || !saysOtherwise(before.diagnosis, now.diagnosis, incident) || cameBack(events, before, now))
    return null;
  // What several diagnoses in a row said may have been read since the first of them.
  const first = all
    .slice(0, -1)
    .findLast(
      (each, at) =>
        at === 0 ||
        cameBack(events, all[at - 1] as Concluded, each) ||
        saysOtherwise((all[at - 1] as Concluded).diagnosis, each.diagnosis, incident),
    );
  const since = events.filter(({ seq }) => seq > (first ?? before).seq && seq < now.seq);
  if (!since.some(({ type }) => ACTED.has(type))) return null;
  // What a look has withdrawn it has said itself.
  const isSaid = since.some((event) => event.type === 'incident.looked' && event.withdrew);
  const isVoid = !isSaid && since.some(({ type, seq }) => type === 'action.void' && seq > before.seq);
  const [lead, said] = formatTakenBack(before.diagnosis, now.diagnosis, events);
  const rest = `${said}${isVoid ? ' What was asked for is withdrawn.' : ''}`;
  return {
    slot: `headsup:${number}`,
    inThread: true,
    text: escape(`${incident.id}: ${lead} ${rest}`),
    blocks: [prose(paragraph(bold(lead), words(` ${rest}`)))],
  };
}

const cameBack = (events: readonly IncidentEvent[], before: Concluded, now: Concluded): boolean =>
  events.some(
    (event) =>
      event.type === 'state.changed' &&
      event.from === 'resolved' &&
      event.seq > before.seq &&
      event.seq < now.seq,
  );

/** What it withdraws, and what it says now. */
function formatTakenBack(
  before: Diagnosis,
  now: Diagnosis,
  events: readonly IncidentEvent[],
): readonly [string, string] {
  const quote = (one: Diagnosis): string =>
    `“${cut(oneLine(one.rootCause).replace(/[.\s]+$/, '') || 'no cause was named', SHOWN_CAUSE)}”${isModels(one, events) ? ` (${CLAUDES_WORDS})` : ''}`;
  const nowSays = {
    cause_found: `It is ${quote(now)}.`,
    healthy: 'Nothing wrong is seen now.',
    cannot_tell: 'The cause cannot be told now.',
  }[now.verdict];
  if (before.verdict === 'cannot_tell') return ['No longer so:', `the cause could not be told. ${nowSays}`];
  if (before.verdict === 'healthy')
    return now.verdict === 'cause_found'
      ? ['I was wrong:', `something is wrong after all. ${nowSays}`]
      : ['I take it back:', `that nothing is wrong. ${nowSays}`];
  return now.verdict === 'cause_found'
    ? ['I was wrong:', `not ${quote(before)}. ${nowSays}`]
    : [now.verdict === 'healthy' ? 'No longer so:' : 'I take it back:', `${quote(before)}. ${nowSays}`];
}
