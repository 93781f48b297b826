import type { types } from '@slack/bolt';
import { type Action, stepsOf } from '../../core/action.ts';
import { contextLines } from '../../core/context.ts';
import {
  byQuote,
  type Diagnosis,
  type Disagreement,
  describeVerdict,
  type Side,
} from '../../core/diagnosis.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { alsoRuledOut, CLAUDES_WORDS, isModels } from '../../core/model-words.ts';
import { isCallOfLook } from '../../core/told-changes.ts';
import { neighbourRead } from '../../core/tool-call.ts';
import { openReads } from '../../incidents/failed-reads/open-reads.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  lineWith,
  list,
  moment,
  paragraph,
  prose,
  small,
  verbatim,
  words,
} from './blocks/build.ts';
import { changesBlocks } from './blocks/changes.ts';
import {
  asOf,
  claimText,
  diagnosesOf,
  formatDoubleCheck,
  formatHowSure,
  notKnown,
  planNoneAfter,
  weighedLines,
  weighedTitle,
} from './blocks/diagnosis.ts';
import { facts, formatConfidence } from './blocks/labels.ts';
import { roundsOf } from './blocks/live.ts';
import { whyNoPlan } from './blocks/next-step.ts';
import { ACTIONS, type DrawOptions } from './blocks/slot.ts';
import { stepOf } from './blocks/steps.ts';
import { storyBlocks } from './blocks/story.ts';
import { BOX, cut, pages } from './blocks/text.ts';
import { drawOpenRead } from './blocks/unread.ts';
import { modal } from './modal.ts';

const MAX_BOXES = 20;
const MAX_CLAIMS = 30;
const MAX_STEPS_SHOWN = 400;
/** Buttons of one block. */
const MAX_LOOKS = 25;

/** Long text as paragraphs of a window. */
const textBlocks = (text: string, max = MAX_BOXES): readonly Block[] =>
  pages(text.trim() || '(nothing)', BOX)
    .slice(0, max)
    .map((part) => prose(paragraph(words(part))));

export const whyView = (text: string): types.ModalView =>
  modal('What happened, and why', storyBlocks(text, MAX_BOXES));

/** What an approval rests on: the whole command, the state seen, the claims with their outputs. */
export function evidenceView(record: IncidentRecord, action: Action): types.ModalView {
  const diagnosis = record.events.findLast(
    (event) => event.type === 'diagnosis.concluded' && event.at <= action.proposedAt,
  );
  const steps = stepsOf(record.actions, action);
  return modal('Details', [
    ...steps.flatMap((step) => approvedOf(step, steps.length)),
    ...(diagnosis?.type === 'diagnosis.concluded'
      ? [
          ...(isModels(diagnosis.diagnosis, record.events)
            ? [small(`The claims are ${CLAUDES_WORDS}; each quote is a line of what was read.`)]
            : []),
          ...claims(record, diagnosis.diagnosis),
        ]
      : []),
    small(`For the audit log: ${action.id} · plan ${action.planHash}`),
  ]);
}

/** All of one step that its approval is for. */
function approvedOf(step: Action, of: number): readonly Block[] {
  const boxes = Math.ceil(MAX_BOXES / of);
  return [
    prose(paragraph(bold(of > 1 ? `Step ${step.step} of ${of}: the exact command` : 'The exact command'))),
    ...pages(step.command, BOX)
      .slice(0, boxes)
      .map((part) => prose(verbatim(part))),
    prose(
      paragraph(bold('Seen just before it was proposed')),
      step.preflight.length > 0
        ? list(step.preflight.slice(0, 40).map((line) => [words(cut(line, 500))]))
        : paragraph(words('Nothing was recorded.')),
    ),
    prose(
      paragraph(bold('Must still be so when it runs')),
      verbatim(cut(JSON.stringify(step.guard, null, 2), BOX)),
    ),
  ];
}

/**
 * What the n-th diagnosis (from 1) stands on, claim by claim, without anything cut away; null where it is not on record. What
 * can still be read, and the looks before it, stand first: of a long window the end is cut.
 */
export function diagnosisView(
  record: IncidentRecord,
  number: number,
  options: Pick<DrawOptions, 'mayReadAgain'> = {},
): types.ModalView | null {
  const all = diagnosesOf(record.events);
  const event = all[number - 1];
  if (!event) return null;
  const { diagnosis } = event;
  const items = (title: string, lines: readonly string[]): readonly Block[] =>
    lines.length > 0
      ? [prose(paragraph(bold(title)), list(lines.slice(0, 30).map((line) => [words(cut(line, 600))])))]
      : [];
  const one = (title: string, text: string | null): readonly Block[] =>
    text ? [prose(paragraph(bold(title))), ...textBlocks(text, 4)] : [];
  // That two disagree is ours to say.
  const isModel = isModels(diagnosis, record.events) && diagnosis.disagreement === undefined;
  const verdict = `${describeVerdict(diagnosis)}${isModel ? ', says Claude' : ''}`;
  const planNone = planNoneAfter(record, event.seq);
  const reads = options.mayReadAgain && number === all.length ? openReads(record) : [];
  return modal('Evidence', [
    prose(paragraph(bold(facts(verdict, formatHowSure(diagnosis))), ...asOf(event.at))),
    ...(isModel ? [small(`All of this is in ${CLAUDES_WORDS}; each quote is a line of what was read.`)] : []),
    ...textBlocks(diagnosis.rootCause.trim() || 'No cause was named.', 10),
    ...reads.flatMap((read) => drawOpenRead(read)),
    ...otherLooks(record, number, all.length),
    ...(diagnosis.disagreement ? sides(record, diagnosis.disagreement) : claims(record, diagnosis)),
    ...began(diagnosis),
    ...changesBlocks(changesUntil(record, event.seq)),
    ...items('Gathered around it', contextLines(changesUntil(record, event.seq))),
    ...items('How it came about', diagnosis.chain ?? []),
    ...items(weighedTitle(isModel), weighedLines(diagnosis, isModel)),
    ...items('Ruled out', alsoRuledOut(diagnosis)),
    ...items('Not known', notKnown(diagnosis)),
    ...one('Wrong if', diagnosis.wouldChangeMyMind),
    ...one('What it affects', diagnosis.blastRadius),
    ...one(isModel ? 'Claude suggests' : 'What would help', diagnosis.remedy),
    ...(planNone?.reason.trim()
      ? [prose(paragraph(bold('No action is proposed: '), ...whyNoPlan(planNone, 1500)))]
      : []),
    ...one(CLAUDES_WORDS, planNone?.said ?? null),
    ...(diagnosis.doubleCheck ? [small(formatDoubleCheck(diagnosis.doubleCheck))] : []),
    ...(diagnosis.runbookId ? [small(`By runbook ${cut(diagnosis.runbookId, 80)}`)] : []),
  ]);
}

/** As that diagnosis knew them: a later look, or a later word of them, is another window's. */
const changesUntil = ({ events }: IncidentRecord, seq: number): IncidentRecord['events'] =>
  events.filter((event) => event.seq <= seq);

/** What was found before it, and since. */
function otherLooks({ incident }: IncidentRecord, number: number, count: number): readonly Block[] {
  if (count < 2) return [];
  const others = Array.from({ length: count }, (_, at) => at + 1).filter((each) => each !== number);
  return [
    small(`Look ${number} of ${count}`),
    buttons(
      ...others.slice(-MAX_LOOKS).map((each) =>
        button({
          text: `Look ${each}${each === count ? ', the newest' : ''}`,
          action: `${ACTIONS.diagnosis}_${each}`,
          value: `${incident.id}:${each}`,
        }),
      ),
    ),
  ];
}

/** When it began, and whether it is still there. */
function began({ onset, symptomNow }: Diagnosis): readonly Block[] {
  const parts = [
    ...(onset === undefined ? [] : [paragraph(bold('Began: '), moment(onset, '{date_short} {time}'))]),
    ...(symptomNow === undefined
      ? []
      : [paragraph(bold('There now: '), words(symptomNow.present ? 'yes' : 'no'))]),
  ];
  return parts.length > 0 ? [prose(...parts)] : [];
}

/** Both, each with what it stands on. */
function sides(record: IncidentRecord, { runbook, model }: Disagreement): readonly Block[] {
  const side = (title: string, one: Side): readonly Block[] => [
    prose(
      paragraph(
        bold(
          `${title} · ${facts(describeVerdict(one), one.verdict === 'cause_found' ? formatConfidence(one.confidence) : null)}: `,
        ),
        words(cut(one.says, 1500)),
      ),
    ),
    ...claims(record, one),
  ];
  return [...side('The runbook’s check', runbook), ...side('Claude', model)];
}

function claims(
  { toolCalls, incident }: IncidentRecord,
  { evidence }: Pick<Diagnosis, 'evidence'>,
): readonly Block[] {
  return byQuote(evidence)
    .slice(0, MAX_CLAIMS)
    .map((each) => {
      const [call] = each.toolCallIds;
      const neighbour = neighbourRead(
        toolCalls.find(({ id }) => id === call),
        incident,
      );
      const text = `${neighbour === null ? '' : `${neighbour}: `}${claimText(each, 1500, 1000)}`;
      return call
        ? lineWith(text, button({ text: 'Show output', action: ACTIONS.output, value: call }))
        : prose(paragraph(words(text)));
    });
}

/** Every step, oldest first; of one round only where an older message asks for it. */
export function stepsView(
  record: IncidentRecord,
  round: number | null,
  options: DrawOptions,
): types.ModalView {
  const events =
    round === null ? record.events : (roundsOf(record).find((each) => each.number === round)?.events ?? []);
  const steps = events
    .filter((event) => !isCallOfLook(event, events))
    .map((event) => stepOf(event, options))
    .filter((step) => step !== null);
  const shown = steps.slice(-MAX_STEPS_SHOWN);
  const blocks: Block[] =
    steps.length > shown.length ? [small(`… ${steps.length - shown.length} earlier ones`)] : [];
  for (let at = 0; at < shown.length; at += 10)
    blocks.push(
      prose(...shown.slice(at, at + 10).map((step) => paragraph(words(`${step.mark} `), ...step.spans))),
    );
  if (blocks.length === 0) blocks.push(prose(paragraph(words('No steps are on record.'))));
  return modal('Steps', blocks);
}
