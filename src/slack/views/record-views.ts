import type { types } from '@slack/bolt';
import { type Action, stepsOf } from '../../core/action.ts';
import { byQuote, type Diagnosis, describeVerdict } from '../../core/diagnosis.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { alsoRuledOut, CLAUDES_WORDS, isModels } from '../../core/model-words.ts';
import {
  type Block,
  bold,
  button,
  lineWith,
  list,
  paragraph,
  prose,
  small,
  verbatim,
  words,
} from './blocks/build.ts';
import {
  claimText,
  formatDoubleCheck,
  formatHowSure,
  notKnown,
  weighedLines,
  weighedTitle,
} from './blocks/diagnosis.ts';
import { facts } from './blocks/labels.ts';
import { roundsOf } from './blocks/live.ts';
import { ACTIONS, type DrawOptions } from './blocks/slot.ts';
import { stepOf } from './blocks/steps.ts';
import { storyBlocks } from './blocks/story.ts';
import { BOX, cut, pages } from './blocks/text.ts';
import { modal } from './modal.ts';

const MAX_BOXES = 20;
const MAX_CLAIMS = 30;

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
  return modal('Evidence', [
    ...steps.flatMap((step) => approvedOf(step, steps.length)),
    ...(diagnosis?.type === 'diagnosis.concluded'
      ? [
          ...(isModels(diagnosis.diagnosis, record.events)
            ? [small(`The claims are ${CLAUDES_WORDS}; each quote is a line of what was read.`)]
            : []),
          ...claims(diagnosis.diagnosis),
        ]
      : []),
    small(`${action.id} · plan ${action.planHash}`),
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

/** A diagnosis without anything cut away. */
export function diagnosisView(diagnosis: Diagnosis): types.ModalView {
  const items = (title: string, lines: readonly string[]): readonly Block[] =>
    lines.length > 0
      ? [prose(paragraph(bold(title)), list(lines.slice(0, 30).map((line) => [words(cut(line, 600))])))]
      : [];
  const one = (title: string, text: string | null): readonly Block[] =>
    text ? [prose(paragraph(bold(title))), ...textBlocks(text, 4)] : [];
  const isModel = diagnosis.origin === 'model';
  return modal('Diagnosis', [
    prose(paragraph(bold(facts(describeVerdict(diagnosis), formatHowSure(diagnosis))))),
    ...(isModel ? [small(`All of this is in ${CLAUDES_WORDS}; each quote is a line of what was read.`)] : []),
    ...textBlocks(diagnosis.rootCause, 10),
    ...claims(diagnosis),
    ...items('How it came about', diagnosis.chain ?? []),
    ...items(weighedTitle(isModel), weighedLines(diagnosis, isModel)),
    ...sides(diagnosis),
    ...items('Ruled out', alsoRuledOut(diagnosis)),
    ...items('Not known', notKnown(diagnosis)),
    ...one('Wrong if', diagnosis.wouldChangeMyMind),
    ...one('What it affects', diagnosis.blastRadius),
    ...one(isModel ? 'Claude suggests' : 'What would help', diagnosis.remedy),
    ...(diagnosis.doubleCheck ? [small(formatDoubleCheck(diagnosis.doubleCheck))] : []),
  ]);
}

function sides({ disagreement }: Diagnosis): readonly Block[] {
  if (disagreement === undefined) return [];
  return [
    prose(paragraph(bold('The runbook’s check: '), words(cut(disagreement.runbook.says, 1500)))),
    ...claims(disagreement.runbook),
    prose(paragraph(bold('Claude: '), words(cut(disagreement.model.says, 1500)))),
  ];
}

function claims(diagnosis: Pick<Diagnosis, 'evidence'>): readonly Block[] {
  return byQuote(diagnosis.evidence)
    .slice(0, MAX_CLAIMS)
    .map((evidence) => {
      const text = claimText(evidence, 1500, 1000);
      const [call] = evidence.toolCallIds;
      return call
        ? lineWith(text, button({ text: 'Show output', action: ACTIONS.output, value: call }))
        : prose(paragraph(words(text)));
    });
}

/** Every step of one round, oldest first. */
export function stepsView(record: IncidentRecord, round: number, options: DrawOptions): types.ModalView {
  const events = roundsOf(record).find((each) => each.number === round)?.events ?? [];
  const steps = events.map((event) => stepOf(event, options)).filter((step) => step !== null);
  const shown = steps.slice(-400);
  const blocks: Block[] = [];
  for (let at = 0; at < shown.length; at += 10)
    blocks.push(
      prose(...shown.slice(at, at + 10).map((step) => paragraph(words(`${step.mark} `), ...step.spans))),
    );
  if (blocks.length === 0) blocks.push(prose(paragraph(words('No steps are on record.'))));
  return modal('All steps', blocks);
}
