import type { Action } from '../../../core/action.ts';
import { describeAct, describePlan } from '../../../core/describe-act.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isWhyInModelsWords, label } from '../../../core/model-words.ts';
import { runningStep, stepResult, tellingStep } from '../../../core/plan-progress.ts';
import { stepNames } from '../../../core/undone.ts';
import type { checkedOf } from '../../../incidents/questions/format-lasting-fix.ts';
import { type Block, bold, code, list, literal, paragraph, prose, type Span, small, words } from './build.ts';
import { riskLabels } from './labels.ts';
import type { DrawOptions } from './slot.ts';
import { cut, oneLine } from './text.ts';

/** Of all commands of a plan together: Slack takes about 10,000 characters a message, and the rest wants to be said. */
const SHOWN_COMMANDS = 2_200;
const MOST_LINES = 2;

/** Below a command that did not fit whole. */
export const LONGER = small(
  'A command is longer than fits here. Read all of it with “Details” before you decide.',
);

/** The steps of a plan, numbered: all that is approved. */
export function drawSteps(record: IncidentRecord, steps: readonly Action[]): readonly Block[] {
  const [first] = steps;
  if (first === undefined) return [];
  const rooms = roomsFor(steps.map(({ command }) => command.length));
  const cutShort = steps.some(({ command }, at) => command.length > (rooms[at] ?? 0));
  return [
    ...steps.flatMap((step, at) => [
      prose(paragraph(bold(`${step.step}. ${cut(oneLine(describeAct(step)), 120)}`))),
      literal(cut(step.command, rooms[at] ?? 0)),
      prose(...asApproved(record, step)),
    ]),
    ...(cutShort ? [LONGER] : []),
    prose(paragraph(...riskOf(steps, first))),
  ];
}

export const inSentence = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** What became of a plan, or of how much of it. */
export function endedTitle(steps: readonly Action[], checked: ReturnType<typeof checkedOf>): string {
  const step = tellingStep(steps) ?? steps[0];
  const where = ` on ${cut(oneLine(step?.target ?? ''), 40)}`;
  const act = `${inSentence(cut(oneLine(describePlan(steps)), 90))}${where}`;
  if (step === undefined) return act;
  const running = runningStep(steps);
  const at = steps.length > 1 ? ` at step ${(running ?? step).step} of ${steps.length}` : '';
  if (running) return `Running${at}: ${act}`;
  switch (step.state) {
    case 'proposed':
    case 'queued':
    case 'approved':
    case 'started':
      return `Running: ${act}`;
    case 'succeeded':
      if (checked && checked.seen !== true) return `Ran, without its effect being seen: ${act}`;
      return step.step === steps.length
        ? `✓ ${cut(oneLine(describePlan(steps, true)), 90)}${where}`
        : `Ended${at}: ${act}`;
    case 'failed':
      return `✗ Failed${at}: ${act}`;
    case 'unknown':
      return `❔ Unknown whether it ran${at}, and it is not run again: ${act}`;
    case 'denied':
      return `Not done: ${act}`;
    case 'expired':
      return `Not done, nobody decided in time: ${act}`;
    case 'void':
      return step.step > 1 ? `Called off${at}: ${act}` : `Not done, called off: ${act}`;
    case 'skipped':
      return `Not run: ${act}`;
  }
}

/** What became of each step, in one line: `✓ 1. ran · ✗ 2. failed · – 3. not run: …`; the title and *Details* tell what each does. */
export function drawMarks(steps: readonly Action[]): string {
  return steps
    .map((step) => {
      const { mark, says } = stepResult(step, steps);
      return `${mark} ${step.step}. ${cut(oneLine(says), 48)}`;
    })
    .join(' · ');
}

function asApproved(record: IncidentRecord, step: Action) {
  const why = label('Why', isWhyInModelsWords(step, record.events));
  const seen = step.preflight.slice(0, MOST_LINES).map((line) => [words(cut(oneLine(line), 120))]);
  return [
    paragraph(bold(why), words(cut(oneLine(step.why), 220))),
    paragraph(bold('Touches: '), words(cut(oneLine(step.blastRadius), 160))),
    paragraph(bold('Undo: '), words(cut(oneLine(step.undo.split('\n')[0] ?? ''), 160))),
    ...(seen.length > 0 ? [paragraph(bold('Seen just before:')), list(seen)] : []),
  ];
}

/**
 * Which steps *Undo* takes back, said before anybody decides, and from where on something is lost: that stands below how the
 * first step is undone.
 */
export function wayBack(steps: readonly Action[], options: DrawOptions): readonly Span[] {
  const [, noReturn] = steps[0]?.undo.split('\n') ?? [];
  return [
    bold('Undo: '),
    words(`${undoReach(steps, options)}.`),
    ...(noReturn ? [bold(' Point of no return: '), words(cut(oneLine(noReturn), 160))] : []),
  ];
}

/** `takes back step 1, not steps 2 and 3`, by what its tools can: the same before anybody decides and after it ran. */
export function undoReach(steps: readonly Action[], { mayUndo }: DrawOptions): string {
  const numbers = (can: boolean): readonly number[] =>
    steps.filter((each) => (mayUndo?.(each) === true) === can).map(({ step }) => step);
  const [back, stays] = [numbers(true), numbers(false)];
  if (back.length === 0) return 'no step of it can be taken back';
  if (stays.length === 0) return 'takes back all of it, the last step first';
  return `takes back ${stepNames(back)}, not ${stepNames(stays)}`;
}

export function riskOf(steps: readonly Action[], { runbookId }: Action): readonly Span[] {
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
