import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isMerged } from '../../../core/merged-with.ts';
import { CLAUDES_WORDS } from '../../../core/model-words.ts';
import { isMemoryToolName } from '../../../core/tool-call.ts';
import { formatState } from '../../../incidents/questions/format-state.ts';
import { type Block, bold, button, buttons, paragraph, prose, small, words } from './build.ts';
import { span } from './labels.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { type Step, stepOf } from './steps.ts';
import { cutStart, escape, oneLine } from './text.ts';

/** Lines shown at once; earlier ones are a button away. */
const SHOWN_STEPS = 12;
const SHOWN_WORDS = 2500;
const WORKING = new Set(['triaging', 'diagnosing', 'planning']);

/** One round of investigating: from its first step to the next time the cause is looked for again. */
export interface Round {
  readonly number: number;
  /** Of its first line. */
  readonly seq: number;
  readonly events: readonly IncidentEvent[];
  readonly last: boolean;
}

/** The rounds of the record that have something to show. */
export function roundsOf(record: IncidentRecord): readonly Round[] {
  const rounds: IncidentEvent[][] = [[]];
  for (const event of record.events) {
    const again =
      event.type === 'state.changed' &&
      event.to === 'diagnosing' &&
      event.from !== 'triaging' &&
      event.from !== 'stopped';
    if (again && rounds.at(-1)?.some(isWork)) {
      const before = rounds.at(-1) as IncidentEvent[];
      rounds.push(before.splice(before.length - causes(before)));
    }
    rounds.at(-1)?.push(event);
  }
  return rounds
    .map((events, index) => ({ events, index }))
    .filter(({ events }) => events.some(isWork))
    .map(({ events, index }) => ({
      number: index + 1,
      seq: events.find(isWork)?.seq ?? 0,
      events,
      last: index === rounds.length - 1,
    }));
}

/** How many of the last events caused the round that follows, and belong to it: a hint, or a read that was made again. */
function causes(before: readonly IncidentEvent[]): number {
  const last = before.at(-1);
  if (last?.type === 'hint.given' || last?.type === 'investigation.asked') return 1;
  if (last?.type !== 'read.finished') return 0;
  const asked = before.findLastIndex((event) => event.type === 'read.asked' && event.toolCallId === last.of);
  return asked < 0 ? 1 : before.length - asked;
}

const started = new Set<IncidentEvent['type']>([
  'memory.recalled',
  'investigator.chosen',
  'tool.called',
  'triage.concluded',
  'diagnosis.concluded',
]);
const isWork = (event: IncidentEvent): boolean =>
  started.has(event.type) || (event.type === 'state.changed' && WORKING.has(event.to));

/** The progress message of one round. */
export function drawLive(record: IncidentRecord, round: Round, options: DrawOptions): Slot {
  const { incident } = record;
  const steps = stepsShown(round, options);
  const working = round.last && WORKING.has(incident.state) && !isMerged(incident);
  const head = working ? `${formatState(incident.state)} …` : finished(round);
  const speaking = working && incident.words ? cutStart(incident.words.trim(), SHOWN_WORDS) : '';
  const { shown, hidden } = fold(steps);
  return {
    slot: `live:${round.number}`,
    inThread: true,
    live: working,
    text: escape(oneLine(`${incident.id}: ${head}`)),
    blocks: [
      prose(
        paragraph(bold(head)),
        ...(hidden > 0 ? [paragraph(words(`… ${hidden} more steps`, { italic: true }))] : []),
        ...shown.map((step) => paragraph(words(`${step.mark} `), ...step.spans)),
      ),
      ...(speaking
        ? [
            ...(incident.investigator === 'claude' ? [small(`${CLAUDES_WORDS}, as they come:`)] : []),
            quote(speaking),
          ]
        : []),
      ...(hidden > 0
        ? [
            buttons(
              button({
                text: 'Show all steps',
                action: ACTIONS.steps,
                value: `${incident.id}:${round.number}`,
              }),
            ),
          ]
        : []),
    ],
  };
}

/** The lines that led to the diagnosis. What was run and whether it helped have messages of their own. */
function stepsShown(round: Round, options: DrawOptions): readonly Step[] {
  const recalled = new Set<string>();
  const steps: Step[] = [];
  for (const event of round.events) {
    if (event.type === 'tool.called' && !isLook(event)) continue;
    if (event.type === 'memory.recalled' && event.incidents.length > 0) {
      const fresh = event.incidents.some(({ incidentId }) => !recalled.has(incidentId));
      for (const { incidentId } of event.incidents) recalled.add(incidentId);
      if (!fresh) continue;
    } else if (event.type === 'memory.recalled' && event.heldBack) {
      if (recalled.has(event.heldBack)) continue;
      recalled.add(event.heldBack);
    }
    const step = stepOf(event, options);
    if (step) steps.push(step);
  }
  return steps;
}

/** A look for the cause, as opposed to a proposal, what was run, looks whether that helped, and what MCP clients read. */
const isLook = (event: IncidentEvent): boolean =>
  event.type === 'tool.called' && !['surgeon', 'validator', 'mcp'].includes(event.role);

/** How long it took to the diagnosis: what people took to decide is not investigating. */
function finished(round: Round): string {
  const first = round.events.find(isWork);
  const last =
    round.events.findLast((event) => event.type === 'diagnosis.concluded') ??
    round.events.findLast((event) => isLook(event) || event.type === 'triage.concluded');
  const lasted = first && last ? span(first.at, last.at) : '0 s';
  const took = lasted === '0 s' ? '' : ` in ${lasted}`;
  const looks = round.events.filter(
    (event) => isLook(event) && !(event.type === 'tool.called' && isMemoryToolName(event.tool)),
  ).length;
  return `Investigated${took}${looks > 0 ? ` · ${looks} ${looks === 1 ? 'look' : 'looks'} at the live system` : ''}`;
}

/** Keeps what must be seen and the newest of the others. */
function fold(steps: readonly Step[]): { readonly shown: readonly Step[]; readonly hidden: number } {
  let room = SHOWN_STEPS - Math.min(SHOWN_STEPS - 4, steps.filter((step) => step.keep).length);
  const shown: Step[] = [];
  for (const step of steps.toReversed()) {
    if (step.keep && shown.length < SHOWN_STEPS) shown.unshift(step);
    else if (!step.keep && room > 0) {
      room -= 1;
      shown.unshift(step);
    }
  }
  return { shown, hidden: steps.length - shown.length };
}

const quote = (text: string): Block => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_quote', elements: [words(text)] }],
});
