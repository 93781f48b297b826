import { type Action, isLastingFix, neverRan, stepsOf } from '../../../core/action.ts';
import { capitalised } from '../../../core/capitalised.ts';
import { describePlan } from '../../../core/describe-act.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { formatValue, isYesOrNo } from '../../../core/measure.ts';
import { causeFound, causeTitle } from '../../../core/model-words.ts';
import { overriddenBy } from '../../../core/overridden.ts';
import { stepResult } from '../../../core/plan-progress.ts';
import { toldChanges } from '../../../core/told-changes.ts';
import { formatFixed, formatUndone, hasFallen, undoneOf } from '../../../core/undone.ts';
import { formatLead } from '../../../incidents/questions/format-changes.ts';
import { type RecoverySeries, recoverySeries } from '../../../incidents/recovery/recovery-series.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  link,
  moment,
  paragraph,
  prose,
  type Span,
  words,
} from './build.ts';
import { chartBlock } from './chart-block.ts';
import { feedbackBlocks } from './feedback.ts';
import { facts, lasted, money, span } from './labels.ts';
import { howOften, type Opening } from './openings.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { cut, escape, oneLine, sentence } from './text.ts';

type Ended = Opening & { readonly end: NonNullable<Opening['end']> };
type Options = Partial<DrawOptions>;

/** Characters of its first two lines and the last, without the chart and the question. */
const LONGEST = 256;
/** Less says nothing of a change. */
const SHORTEST = 50;

/** How an opening of the incident ended: what changed, by what, on whose word. One message, without a slot's name yet. */
export function drawClosing(
  record: IncidentRecord,
  opening: Ended,
  options: Options,
): Pick<Slot, 'text' | 'blocks' | 'simpler'> {
  const { incident } = record;
  const isConfirmed = isFixed(record, opening);
  const repairs = repairsOf(record, opening);
  const repair = repairs.at(-1);
  const series = isConfirmed && repair ? seriesOf(record, opening, repair, options) : null;
  const undone = repair ? undoneOf(record.actions, stepsOf(record.actions, repair)) : null;
  const head = !isConfirmed
    ? '⚪ Over'
    : `${hasFallen(undone) ? '⚪' : '🟢'} ${capitalised(formatFixed(undone))}`;
  const often = facts(
    `after ${span(opening.startedAt, opening.end.at)}`,
    howOften(opening, incident),
    opening.isLast ? money(incident.costUsd) : null,
  );
  const word = isConfirmed ? confirmed(opening, series) : onWhoseWord(record, opening, options);
  const room = Math.max(60, LONGEST - `${head}${often}${word}`.length);
  const act = repair ? done(record, opening, repairs, { ...options, room }) : cause(record, opening);
  const what = cut(act, room);
  const lines = [word, what, changedBefore(opening, room - what.length)].filter((line) => line !== '');
  const said: Block[] = [
    prose(
      paragraph(bold(head), words(` · ${often}`), ...lastTime(record, opening, options)),
      ...lines.map((line) => paragraph(words(line))),
    ),
  ];
  const chart = series && draw(series);
  // Asked once, also when the incident comes back.
  const asked = opening.number === 1 ? [...feedbackBlocks(record), reportButtons(record)] : [];
  return {
    text: escape(oneLine(`${incident.id}: ${head} · ${often}. ${lines.join(' ')}`)),
    blocks: [...said, ...(chart && series ? [chart, captionOf(series)] : []), ...asked],
    ...(chart ? { simpler: [...said, ...asked] } : {}),
  };
}

const reportButtons = ({ incident, events }: IncidentRecord): Block =>
  buttons(
    button({ text: 'Post-mortem', action: ACTIONS.report, value: incident.id }),
    ...(events.some(({ type }) => type === 'diagnosis.concluded')
      ? [button({ text: 'Draft runbook', action: ACTIONS.draftRunbook, value: incident.id })]
      : []),
  );

export const hasEnded = (opening: Opening): opening is Ended => opening.end !== null;

/** Only what our own check has seen gone after a repair, for as long as it has to be. */
const isFixed = ({ incident }: IncidentRecord, { events, isLast }: Opening): boolean =>
  (isLast && incident.state === 'resolved' && incident.resolvedBy === 'confirmed') ||
  events.some((event) => event.type === 'verification.concluded' && event.verdict === 'fixed');

/** The first steps of the plans that ran in it to mend what was wrong, or may have; the last one helped, if any did. */
function repairsOf({ actions }: IncidentRecord, { events }: Opening): readonly Action[] {
  const began = new Set(events.flatMap((event) => (event.type === 'action.started' ? [event.actionId] : [])));
  return actions.filter(
    (action) =>
      action.step === 1 &&
      action.purpose === 'repair' &&
      !isLastingFix(action) &&
      stepsOf(actions, action).some((step) => began.has(step.id) && !neverRan(step)),
  );
}

function seriesOf(
  record: IncidentRecord,
  { startedAt, end }: Ended,
  repair: Action,
  { measured }: Options,
): RecoverySeries | null {
  if (!measured) return null;
  const told = stepsOf(record.actions, repair).findLast(({ state }) => state === 'succeeded') ?? repair;
  const times = { from: Date.parse(startedAt), until: Date.parse(end.at) };
  return recoverySeries(record, told, times, measured);
}

/** `Sessions waiting for a lock: 4 → 0. Confirmed by my own check, held for 60 s.` */
function confirmed({ events, end }: Ended, series: RecoverySeries | null): string {
  const verified = events.findLast(
    (event) => event.type === 'verification.concluded' && event.verdict === 'fixed',
  );
  const reason = verified?.type === 'verification.concluded' ? verified.reason : '';
  const seen = series ? changed(series) : cut(withoutMarks(reason), 110);
  // Its source said so first, and then our own check that had held before: those words say both.
  if (seen === '' && verified === undefined) return ourSentence(withoutMarks(summaryOf(events)), 150);
  const held = /\(held for ([^)]{1,20})\)/.exec(reason)?.[1];
  const isOver = events.some(({ type, seq }) => type === 'alert.resolved' && seq < end.seq);
  const by = `Confirmed by my own check${held ? `, held for ${held}` : ''}${isOver ? ', and by the alert’s source' : ''}.`;
  return seen === '' ? by : `${capitalised(seen)}. ${by}`;
}

const summaryOf = (events: readonly IncidentEvent[]): string => {
  const summary = events.findLast((event) => event.type === 'incident.summary');
  return summary?.type === 'incident.summary' ? summary.text.trim() : '';
};

/** Read only from ours: `✓ sessions waiting: 0 sessions (healthy: at most 0 sessions) (held for 60 s)`. */
const withoutMarks = (reason: string): string =>
  cut(oneLine(reason), 1000)
    .replace(/ ?\((?:healthy|held for)[^)]*\)/g, '')
    .replace(/(^|; )[✓✗] /g, '$1')
    .replace(/[✓✗]/g, '')
    .replace(/[\s.]+$/, '');

function changed({ measure, before, after }: RecoverySeries): string {
  const label = cut(oneLine(measure.label), 60);
  if (isYesOrNo(measure) && before < 1 && after >= 1) return `${label}: so again`;
  const [was, is] = [formatValue(measure, before), formatValue(measure, after)];
  // The label says what is counted.
  const bare = (text: string): string =>
    label.split(/[^\p{L}\p{N}%]+/u).includes(measure.unit) ? text.replace(` ${measure.unit}`, '') : text;
  return `${label}: ${bare(was)} → ${bare(is)}`;
}

/** Who says that it is over, and what our own look says to that. */
function onWhoseWord(
  { incident }: IncidentRecord,
  { events, end, isLast }: Ended,
  { nameOf }: Options,
): string {
  const verified = events.findLast(
    (event) => event.type === 'verification.concluded' && event.verdict === 'cannot_tell',
  );
  // What was concluded in the same move; one of before stands on its card.
  const isLater = events.some(
    ({ type, seq }) => type === 'state.changed' && seq > (verified?.seq ?? 0) && seq < end.seq,
  );
  const reason = verified?.type === 'verification.concluded' && !isLater ? verified.reason : '';
  const said = summaryOf(events) || reason;
  const closed = events.findLast((event) => event.type === 'incident.closed');
  if (closed?.type === 'incident.closed') {
    const who = cut(oneLine(nameOf?.(closed.by) ?? ''), 30) || 'A person';
    return ourSentence(`${who} closed it${closed.reason === '' ? '.' : `: “${closed.reason}”`}`, 150);
  }
  const bySource = isLast || events.some(({ type }) => type === 'alert.resolved');
  const plain =
    isLast && incident.resolvedBy === 'person'
      ? 'A person says it is over.'
      : bySource
        ? 'The source of the alert says it is over.'
        : 'It was called over.';
  return ourSentence(said.trim() === '' ? plain : said, 150);
}

/** Ours, shorter: the heading says that it is over, and why a read failed stands in the story. */
const ourSentence = (text: string, max: number): string =>
  sentence(
    cut(oneLine(text), 1000)
      .replace(/ \(healthy: [^)]*\)/g, '')
      .replace(/^Over, says ([^.]{1,60})\./, '$1 says so.')
      .replace(/(My own check could not be read): .*/, '$1'),
    max,
  );

/** What was done, by whom approved, and what was tried before it. */
function done(
  record: IncidentRecord,
  { events, end }: Ended,
  repairs: readonly Action[],
  options: Options & { readonly room: number },
): string {
  const { actions } = record;
  const [last] = repairs.slice(-1);
  if (!last) return '';
  const steps = stepsOf(actions, last);
  const ran = steps.filter(({ state }) => state === 'succeeded');
  const left = steps.filter(({ state }) => state !== 'succeeded');
  const acts = [
    ...(ran.length > 0 ? [cut(oneLine(describePlan(ran, true)), 100)] : []),
    ...left
      .slice(0, 1)
      .map(
        (step) =>
          `${cut(oneLine(describePlan([step])), 60)}: ${cut(oneLine(stepResult(step, steps).says), 50)}`,
      ),
  ].join('; ');
  const failed = events.filter(
    (event: IncidentEvent) =>
      event.type === 'verification.concluded' && event.verdict === 'not_fixed' && event.seq < end.seq,
  ).length;
  const undone = undoneOf(actions, steps);
  const noes = overriddenBy(record, steps).map(({ saidBy }) => saidBy);
  const tries = failed === 1 ? '1 earlier try' : `${failed} earlier tries`;
  const rest = [
    `${approvedBy(last, options)}${noes.length > 0 ? ` although ${named(noes, options)} had said no` : ''}.`,
    ...(undone ? [`${formatUndone(undone, (by) => named([by], options))}.`] : []),
    ...(failed > 0 ? [`${tries} did not help.`] : []),
  ].join(' ');
  return `${cut(acts, Math.max(40, options.room - rest.length))}${rest}`;
}

/** By name, not mentioned: this is a new message, and nothing is wanted of them any more. */
function approvedBy({ decidedBy, approvedBy: several }: Action, options: Options): string {
  if (decidedBy === 'policy') return ', approved by a rule of the policy';
  const people = [...several, ...(decidedBy ? [decidedBy] : [])];
  return people.length === 0 ? '' : `, approved by ${named(people, options)}`;
}

function named(ids: readonly (string | null)[], { nameOf }: Options): string {
  const names = [...new Set(ids)].slice(0, 3).map((id) => {
    const name = id === null ? null : (nameOf?.(id) ?? null);
    return name === null ? 'a person' : `@${cut(oneLine(name), 20)}`;
  });
  return [...new Set(names)].join(' and ');
}

/** Of a cause that was found in it, where nothing was mended; else what was done says enough, and the root the rest. */
function cause({ incident, events }: IncidentRecord, { events: own, end, isLast }: Ended): string {
  const found = causeFound(own);
  const said = isLast ? incident.cause : found?.diagnosis.rootCause;
  if (!found || !said) return '';
  const until = events.filter(({ seq }) => seq <= end.seq);
  const title = causeTitle({ incident: { ...incident, state: 'resolved' }, events: until });
  return `${title}${cut(oneLine(said), 80)}`;
}

/** What a read has shown to have caused it, where there is room for it. */
function changedBefore({ events }: Ended, room: number): string {
  const told = toldChanges(events);
  if (told === null || told.causes.length === 0 || room < SHORTEST) return '';
  return sentence(formatLead(told, true) ?? '', room);
}

/** The same alert's last incident, where it may be named here. */
function lastTime({ events }: IncidentRecord, { number }: Opening, options: Options): readonly Span[] {
  const last = events.findLast((event) => event.type === 'incident.last_time');
  if (number > 1 || last?.type !== 'incident.last_time' || options.mayName?.(last.earlier) !== true)
    return [];
  const url = options.threadUrl?.(last.earlier) ?? null;
  return [
    words(` · again ${span(last.endedAt, events[0]?.at ?? last.at)} after `),
    url ? link(url, last.earlier) : words(last.earlier),
  ];
}

function draw({ measure, points, ranAt }: RecoverySeries): Block | null {
  if (isYesOrNo(measure)) return null;
  return chartBlock({
    type: 'bar',
    title: capitalised(measure.label),
    series: [unitOf(measure) || measure.label],
    points: points.map(({ at, value }) => ({ label: sinceFix(at - ranAt), values: [value] })),
    xLabel: 'Before (−) and after (+) the fix',
    yLabel: capitalised(unitOf(measure)),
    peak: measure.healthy === 'at_least' ? 'lowest' : 'highest',
  });
}

/** `S` alone names nothing beside an axis. */
const unitOf = ({ unit }: RecoverySeries['measure']): string => (unit === 's' ? 'seconds' : unit);

/** A chart's labels know no reader's time zone; this does. */
const captionOf = ({ ranAt }: RecoverySeries): Block =>
  prose(paragraph(words('The fix ran at '), moment(new Date(ranAt).toISOString()), words('.')));

/** `−2 min 5 s`, `+3 s`. */
function sinceFix(ms: number): string {
  const told = lasted(Math.abs(ms));
  return told === '0 s' ? told : `${ms < 0 ? '−' : '+'}${told}`;
}
