import {
  byQuote,
  type Diagnosis,
  type DoubleCheck,
  describeVerdict,
  type Evidence,
  type Side,
} from '../../../core/diagnosis.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { alsoRuledOut, CLAUDES_WORDS, isModels, label } from '../../../core/model-words.ts';
import { neighbourRead } from '../../../core/tool-call.ts';
import type { OpenRead } from '../../../incidents/failed-reads/open-reads.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  heading,
  lineWith,
  list,
  moment,
  paragraph,
  prose,
  type Span,
  small,
  words,
} from './build.ts';
import { facts, formatConfidence } from './labels.ts';
import { whyNoPlan } from './next-step.ts';
import { ACTIONS, type Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';
import { drawOpenRead } from './unread.ts';

const SHOWN_CLAIMS = 8;
const SHOWN_ITEMS = 5;
const SHOWN_CLAIM = 600;
const SHOWN_QUOTE = 300;

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

/** The n-th diagnosis of an incident (from 1). `planNone`: why no action was proposed after it. */
export function drawDiagnosis(
  record: IncidentRecord,
  diagnosis: Diagnosis,
  number: number,
  planNone: PlanNone | null,
  { mayDig = false, reads = [] }: { readonly mayDig?: boolean; readonly reads?: readonly OpenRead[] } = {},
): Slot {
  const { incident } = record;
  const at = record.events.filter((event) => event.type === 'diagnosis.concluded')[number - 1]?.at;
  const sure = formatHowSure(diagnosis);
  const cause = cut(diagnosis.rootCause.trim() || 'No cause was named.', 1200);
  // That two disagree is ours to say.
  const isModel = isModels(diagnosis, record.events) && diagnosis.disagreement === undefined;
  const whose = isModel ? ` (${CLAUDES_WORDS})` : '';
  // What the title says, a reader takes for ours.
  const verdict = `${describeVerdict(diagnosis)}${isModel ? ', says Claude' : ''}`;
  return {
    slot: `diagnosis:${number}`,
    inThread: true,
    text: escape(
      oneLine(`${incident.id}: ${verdict}${sure ? ` (${sure})` : ''}${whose}: ${cut(cause, 500)}`),
    ),
    blocks: [
      heading(facts(verdict, sure)),
      prose(paragraph(...(isModel ? [bold(`${CLAUDES_WORDS}: `)] : []), words(cause), ...asOf(at))),
      ...disagreementOf(record, diagnosis),
      ...(diagnosis.disagreement
        ? []
        : byQuote(diagnosis.evidence)
            .slice(0, SHOWN_CLAIMS)
            .map((evidence) => claim(record, evidence))),
      ...reasoning(diagnosis, isModel),
      ...details(diagnosis, planNone, isModel),
      ...doubleCheckLine(diagnosis.doubleCheck),
      ...reads.flatMap((read) => drawOpenRead(read)),
      ...more(record, diagnosis, number),
      ...(mayDig ? [buttons(button({ text: 'Dig deeper', action: ACTIONS.dig, value: incident.id }))] : []),
    ],
  };
}

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

/** The claim, and under it the line that shows it. */
export function claimText({ claim: said, quote }: Evidence, maxClaim: number, maxQuote: number): string {
  const text = cut(oneLine(said), maxClaim);
  return quote === null ? text : `${text}\n“${cut(oneLine(quote), maxQuote)}”`;
}

function claim(record: IncidentRecord, evidence: Evidence): Block {
  const [call] = evidence.toolCallIds;
  const known = record.toolCalls.find((each) => each.id === call);
  const neighbour = neighbourRead(known, record.incident);
  const text = `${neighbour === null ? '' : `${neighbour}: `}${claimText(evidence, SHOWN_CLAIM, SHOWN_QUOTE)}`;
  if (call === undefined || !known) return prose(paragraph(words(text)));
  return lineWith(text, button({ text: 'Show output', action: ACTIONS.output, value: call }));
}

/** Both sides, each with what it stands on. */
function disagreementOf(record: IncidentRecord, { disagreement }: Diagnosis): readonly Block[] {
  if (disagreement === undefined) return [];
  const side = (title: string, one: Side): readonly Block[] => [
    prose(
      paragraph(
        bold(
          `${title} · ${facts(describeVerdict(one), one.verdict === 'cause_found' ? formatConfidence(one.confidence) : null)}: `,
        ),
        words(cut(oneLine(one.says), 600)),
      ),
    ),
    ...byQuote(one.evidence)
      .slice(0, SHOWN_CLAIMS / 2)
      .map((evidence) => claim(record, evidence)),
  ];
  return [...side('The runbook’s check', disagreement.runbook), ...side('Claude', disagreement.model)];
}

/** When it began, whether it is still there, how one led to the other, and what else it could have been. */
function reasoning(diagnosis: Diagnosis, isModel: boolean): readonly Block[] {
  const { onset, symptomNow, chain = [] } = diagnosis;
  const weighed = weighedLines(diagnosis, isModel);
  const parts = [
    ...(onset === undefined
      ? []
      : [paragraph(bold(label('Began', isModel)), moment(onset, '{date_short} {time}'))]),
    ...(symptomNow === undefined
      ? []
      : [paragraph(bold(label('There now', isModel)), words(symptomNow.present ? 'yes' : 'no'))]),
    ...(chain.length > 0
      ? [
          paragraph(
            bold(label('How it came about', isModel)),
            words(cut(chain.map(oneLine).join(' → '), 600)),
          ),
        ]
      : []),
    ...(weighed.length > 0
      ? [
          paragraph(bold(label(weighedTitle(isModel), isModel))),
          list(weighed.slice(0, SHOWN_ITEMS).map((line) => [words(line)])),
        ]
      : []),
  ];
  return parts.length > 0 ? [prose(...parts)] : [];
}

function counts({ forIds, againstIds }: Hypothesis): string {
  const said = [
    ...(forIds.length > 0 ? [`${reads(forIds.length)} for it`] : []),
    ...(againstIds.length > 0 ? [`${reads(againstIds.length)} against it`] : []),
  ];
  return said.length > 0 ? ` (${said.join(', ')})` : '';
}

const reads = (count: number): string => `${count} ${count === 1 ? 'read' : 'reads'}`;

function details(diagnosis: Diagnosis, planNone: PlanNone | null, isModel: boolean): readonly Block[] {
  const parts = [
    ...items(label('Ruled out', isModel), alsoRuledOut(diagnosis)),
    ...items(label('Not known', isModel), notKnown(diagnosis)),
    ...sentence(label('Wrong if', isModel), diagnosis.wouldChangeMyMind),
    ...sentence(label('What it affects', isModel), diagnosis.blastRadius),
    ...sentence(isModel ? 'Claude suggests: ' : 'What would help: ', diagnosis.remedy),
    ...(planNone?.reason.trim()
      ? [paragraph(bold('No action is proposed: '), ...whyNoPlan(planNone, 400))]
      : []),
    ...sentence(`${CLAUDES_WORDS}: `, planNone?.said ?? null),
  ];
  return parts.length > 0 ? [prose(...parts)] : [];
}

function items(title: string, lines: readonly string[]) {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, SHOWN_ITEMS).map((line) => [words(cut(oneLine(line), 200))]);
  return [paragraph(bold(title.trim())), list(shown)];
}

const sentence = (title: string, text: string | null) =>
  text ? [paragraph(bold(title), words(cut(oneLine(text), 400)))] : [];

/** What of the why stays open, and what could not be read. */
export const notKnown = ({ unexplained, unknown }: Diagnosis): readonly string[] =>
  unexplained === undefined
    ? unknown
    : [`${unexplained.charAt(0).toUpperCase()}${unexplained.slice(1)}.`, ...unknown];

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

const doubleCheckLine = (check: DoubleCheck | undefined): readonly Block[] =>
  check === undefined ? [] : [small(formatDoubleCheck(check))];

/** Whether all of it is shown; if not, how to see the rest. */
function more(record: IncidentRecord, diagnosis: Diagnosis, number: number): readonly Block[] {
  const evidence = byQuote(diagnosis.evidence);
  const whole =
    diagnosis.disagreement === undefined &&
    evidence.length <= SHOWN_CLAIMS &&
    diagnosis.ruledOut.length <= SHOWN_ITEMS &&
    diagnosis.unknown.length <= SHOWN_ITEMS &&
    diagnosis.rootCause.length <= 1200 &&
    (diagnosis.hypotheses ?? []).length <= SHOWN_ITEMS &&
    [...diagnosis.ruledOut, ...diagnosis.unknown].every((line) => line.length <= 200) &&
    evidence.every((each) => each.claim.length <= SHOWN_CLAIM && (each.quote?.length ?? 0) <= SHOWN_QUOTE) &&
    [diagnosis.wouldChangeMyMind, diagnosis.blastRadius, diagnosis.remedy].every(
      (text) => (text?.length ?? 0) <= 400,
    );
  const runbook = diagnosis.runbookId ? [small(`By runbook ${cut(diagnosis.runbookId, 80)}`)] : [];
  if (whole) return runbook;
  return [
    ...runbook,
    buttons(
      button({
        text: 'Details and quotes',
        action: ACTIONS.diagnosis,
        value: `${record.incident.id}:${number}`,
      }),
    ),
  ];
}
