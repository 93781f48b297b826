import type { Action } from '../../../core/action.ts';
import { describeAct } from '../../../core/describe-act.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isWhyInModelsWords, label } from '../../../core/model-words.ts';
import { stepResult } from '../../../core/plan-progress.ts';
import {
  type Block,
  bold,
  code,
  list,
  paragraph,
  prose,
  type Span,
  small,
  verbatim,
  words,
} from './build.ts';
import { riskLabels } from './labels.ts';
import { cut, oneLine } from './text.ts';

/** Of all commands of a plan together: Slack takes about 10,000 characters a message, and the rest wants to be said. */
const SHOWN_COMMANDS = 3_500;
const MOST_LINES = 2;

/** Below a command that did not fit whole. */
export const LONGER = small(
  'A command is longer than fits here. Read all of it with “Show evidence” before you decide.',
);

/** The steps of a plan, numbered: before the decision all that is approved, afterwards what became of each. */
export function drawSteps(record: IncidentRecord, steps: readonly Action[]): readonly Block[] {
  const [first] = steps;
  if (first === undefined) return [];
  const undecided = first.state === 'proposed';
  const rooms = roomsFor(steps.map(({ command }) => command.length));
  const cutShort = steps.some(({ command }, at) => command.length > (rooms[at] ?? 0));
  return [
    prose(
      paragraph(
        bold('On '),
        code(cut(first.target, 80)),
        words(`, ${steps.length} steps in this order; one that fails stops the rest.`),
      ),
    ),
    ...steps.map((step, at) =>
      prose(
        paragraph(...titleOf(step, steps, undecided)),
        verbatim(cut(step.command, rooms[at] ?? 0)),
        ...(undecided ? asApproved(record, step) : []),
      ),
    ),
    ...(cutShort ? [LONGER] : []),
    ...(undecided ? [prose(paragraph(...wayBack(first)), paragraph(...riskOf(steps, first)))] : []),
  ];
}

/** A line for each step and what became of it, below it what it said. */
export function drawResults(steps: readonly Action[]) {
  return steps.flatMap((step) => [
    paragraph(...titleOf(step, steps, false)),
    ...(step.outcome && step.state !== 'skipped' ? [paragraph(words(cut(step.outcome.trim(), 300)))] : []),
  ]);
}

function titleOf(step: Action, steps: readonly Action[], undecided: boolean): readonly Span[] {
  const act = cut(oneLine(describeAct(step)), 120);
  if (undecided) return [bold(`${step.step}. ${act}`)];
  const { mark, says } = stepResult(step, steps);
  return [bold(`${mark} ${step.step}. ${act}`), words(`: ${cut(oneLine(says), 160)}`)];
}

function asApproved(record: IncidentRecord, step: Action) {
  const why = label('Why', isWhyInModelsWords(step, record.events));
  const seen = step.preflight.slice(0, MOST_LINES).map((line) => [words(cut(oneLine(line), 120))]);
  return [
    paragraph(bold(why), words(cut(oneLine(step.why), 220))),
    paragraph(bold('Blast radius: '), words(cut(oneLine(step.blastRadius), 160))),
    paragraph(bold('Undo: '), words(cut(oneLine(step.undo.split('\n')[0] ?? ''), 160))),
    ...(seen.length > 0 ? [paragraph(bold('Seen just before:')), list(seen)] : []),
  ];
}

/** Until where *Undo* reaches, said before anybody decides: it stands below how the first step is undone. */
function wayBack({ undo }: Action): readonly Span[] {
  const [, noReturn] = undo.split('\n');
  return noReturn
    ? [bold('Point of no return: '), words(cut(oneLine(noReturn), 160))]
    : [bold('Way back: '), words('all of it can be taken back, the last step first.')];
}

function riskOf(steps: readonly Action[], { runbookId }: Action): readonly Span[] {
  const order = ['high', 'medium', 'low'] as const;
  const risk = order.find((each) => steps.some((step) => step.risk === each)) ?? 'low';
  return [
    bold('Risk: '),
    words(riskLabels[risk]),
    ...(runbookId ? [words(' · by runbook '), code(cut(runbookId, 80))] : []),
  ];
}

/** How much of each command is shown: what short ones leave, long ones get. */
function roomsFor(lengths: readonly number[]): readonly number[] {
  const share = Math.floor(SHOWN_COMMANDS / Math.max(1, lengths.length));
  const left = lengths.reduce((sum, length) => sum + Math.max(0, share - length), 0);
  const long = lengths.filter((length) => length > share).length;
  return lengths.map((length) => (length > share ? share + Math.floor(left / long) : share));
}
