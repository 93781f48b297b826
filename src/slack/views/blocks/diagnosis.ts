import { capitalised } from '../../../core/capitalised.ts';
import { type Diagnosis, type DoubleCheck, describeVerdict, type Evidence } from '../../../core/diagnosis.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { moment, type Span, words } from './build.ts';
import { confidenceWords, formatConfidence } from './labels.ts';
import { cut, oneLine } from './text.ts';

/** What became of an explanation. In words: a mark beside it would read as one of the system itself. */
const ends = { ruled_in: 'fits', ruled_out: 'ruled out', open: 'open' } as const;

type Hypothesis = NonNullable<Diagnosis['hypotheses']>[number];

/** An explanation and what became of it. The playbook's is a sentence that says itself what is not so. */
export const formatHypothesis = ({ cause, end }: Hypothesis, isModel: boolean, max: number): string =>
  `${isModel ? `${ends[end]}: ` : ''}${cut(oneLine(cause), max)}`;

/** What a diagnosis weighed, a line each; the playbook's own cause stands above already. */
export function weighedLines({ hypotheses = [] }: Diagnosis, isModel: boolean): readonly string[] {
  if (!isModel) return hypotheses.filter(isRuledOut).map((each) => formatHypothesis(each, isModel, 200));
  return hypotheses.map((each) => `${formatHypothesis(each, isModel, 200)}${counts(each)}`);
}

export const weighedTitle = (isModel: boolean): string => (isModel ? 'Weighed' : 'Looked at too');

const isRuledOut = ({ end }: Hypothesis): boolean => end === 'ruled_out';

export type PlanNone = Pick<Extract<IncidentEvent, { type: 'plan.none' }>, 'reason' | 'said' | 'asksAgainAt'>;

/** When it was seen so: the ages and numbers of a cause are of that moment. */
export const asOf = (at: string | undefined): readonly Span[] =>
  at === undefined ? [] : [words(' (as of '), moment(at), words(')')];

/** Of the cause, and of the fix where that is another matter; of a cause that is not known nobody is sure. */
export function formatHowSure({ verdict, unexplained, confidence, fixConfidence }: Diagnosis): string | null {
  if (verdict !== 'cause_found' || unexplained !== undefined) return null;
  const cause = formatConfidence(confidence);
  return fixConfidence === undefined || Math.abs(fixConfidence - confidence) < 0.005
    ? cause
    : `${cause}; the fix: ${formatConfidence(fixConfidence)}`;
}

/** The same in a word or two, also of one that found none. */
export function formatHowSureShort(diagnosis: Diagnosis): string {
  const { verdict, unexplained, confidence } = diagnosis;
  if (verdict === 'cause_found' && unexplained === undefined) return confidenceWords(confidence);
  const said = describeVerdict(diagnosis);
  return `${said.charAt(0).toLowerCase()}${said.slice(1)}`;
}

/** The claim, and under it the line that shows it. */
export function claimText({ claim: said, quote }: Evidence, maxClaim: number, maxQuote: number): string {
  const text = cut(oneLine(said), maxClaim);
  return quote === null ? text : `${text}\n“${cut(oneLine(quote), maxQuote)}”`;
}

function counts({ forIds, againstIds }: Hypothesis): string {
  const said = [
    ...(forIds.length > 0 ? [`${reads(forIds.length)} for it`] : []),
    ...(againstIds.length > 0 ? [`${reads(againstIds.length)} against it`] : []),
  ];
  return said.length > 0 ? ` (${said.join(', ')})` : '';
}

const reads = (count: number): string => `${count} ${count === 1 ? 'read' : 'reads'}`;

/** What of the why stays open, and what could not be read. */
export const notKnown = ({ unexplained, unknown }: Diagnosis): readonly string[] =>
  unexplained === undefined ? unknown : [`${capitalised(unexplained)}.`, ...unknown];

/** What the second look came to. */
export function formatDoubleCheck({ reason, dropped, cause }: DoubleCheck): string {
  if (reason !== null) return `Not double-checked: ${reason.replace(/\.$/, '')}.`;
  const taken = dropped === 0 ? '' : ` ${dropped} ${dropped === 1 ? 'claim was' : 'claims were'} dropped.`;
  const found =
    cause === 'contradicted'
      ? ' What it cites contradicts the cause.'
      : cause === 'not_supported'
        ? ' What it cites does not carry the cause.'
        : '';
  return `Double-checked by a second look at what it cites.${taken}${found}`;
}

export type Concluded = Extract<IncidentEvent, { type: 'diagnosis.concluded' }>;

/** Oldest first: the n-th of an incident counts from 1. */
export const diagnosesOf = (events: readonly IncidentEvent[]): readonly Concluded[] =>
  events.filter((event) => event.type === 'diagnosis.concluded');

/** A proposal that people can decide on, and nothing beside the fix. */
export const asksForFix = ({ actions }: Pick<IncidentRecord, 'actions'>, event: IncidentEvent): boolean =>
  event.type === 'action.proposed' &&
  actions.some(({ id, auditOnly, beside }) => id === event.actionId && !auditOnly && !beside);

/** Why nothing was proposed after this diagnosis and before the next; nothing once something is: a limit may be over. */
export function planNoneAfter(record: IncidentRecord, seq: number): PlanNone | null {
  let none: PlanNone | null = null;
  for (const event of record.events) {
    if (event.seq <= seq) continue;
    if (event.type === 'diagnosis.concluded') break;
    if (asksForFix(record, event)) return null;
    if (event.type === 'plan.none') none = event;
  }
  return none;
}
