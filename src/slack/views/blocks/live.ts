import { count } from '../../../core/count.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isMerged } from '../../../core/merged-with.ts';
import { CLAUDES_WORDS } from '../../../core/model-words.ts';
import { isCallOfLook } from '../../../core/told-changes.ts';
import { isChangesToolName, isMemoryToolName } from '../../../core/tool-call.ts';
import { openReads } from '../../../incidents/failed-reads/open-reads.ts';
import { formatState } from '../../../incidents/questions/format-state.ts';
import { type Block, button, buttons, paragraph, prose, type Span, small, words } from './build.ts';
import { diagnosesOf, formatHowSureShort } from './diagnosis.ts';
import { hypothesisTask, weighedSoFar } from './hypotheses.ts';
import { facts, lasted } from './labels.ts';
import { planBlock, planText, type Task } from './plan-block.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { type Step, stepOf } from './steps.ts';
import { cut, cutStart, escape, oneLine } from './text.ts';
import { drawOpenRead } from './unread.ts';

/** All of the message while somebody works, its buttons' labels included. */
const SHOWN = 450;
const SHOWN_WORDS = 140;
const SHOWN_TASK = 90;
/** As many as there may be fit beside all the words that are spoken. */
const SHOWN_TO_SEE = 70;
const SHOWN_HYPOTHESES = 3;
/** Lines that nobody may miss, and reads that failed: what is more is a press away. */
const SHOWN_LINES = 3;
const WORKING = new Set(['triaging', 'diagnosing', 'planning']);

/** One round of investigating: from its first step to the next time the cause is looked for again. */
interface Round {
  readonly number: number;
  /** Of its first line. */
  readonly seq: number;
  readonly events: readonly IncidentEvent[];
}

/** The rounds of the record that have something to show. */
export function roundsOf(record: Pick<IncidentRecord, 'events'>): readonly Round[] {
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
    .map((events, index) => ({ events, number: index + 1, seq: events.find(isWork)?.seq ?? 0 }))
    .filter(({ events }) => events.some(isWork));
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

/** The one progress message, and where it stands: what is looked at while somebody works, one line once that is over. */
export function drawLive(
  record: IncidentRecord,
  options: DrawOptions,
): readonly { readonly seq: number; readonly slot: Slot }[] {
  const { incident } = record;
  const rounds = roundsOf(record);
  const [first, now] = [rounds[0], rounds.at(-1)];
  if (!first || !now) return [];
  const isWorking = WORKING.has(incident.state) && !isMerged(incident);
  const { head, blocks, simpler } = isWorking
    ? drawWorking(record, now, options)
    : drawOver(record, rounds, options);
  const slot: Slot = {
    slot: 'live:1',
    inThread: true,
    live: isWorking,
    text: escape(oneLine(`${incident.id}: ${head}`)),
    blocks,
    ...(simpler ? { simpler } : {}),
  };
  return [{ seq: first.seq, slot }];
}

interface Drawn {
  readonly head: string;
  readonly blocks: readonly Block[];
  readonly simpler?: readonly Block[];
}

function drawWorking(record: IncidentRecord, now: Round, options: DrawOptions): Drawn {
  const { incident, events } = record;
  const head = `${formatState(incident.state)} …`;
  const spoken = incident.words ? cutStart(incident.words.trim(), SHOWN_WORDS) : '';
  const whose = incident.investigator === 'claude' ? `${CLAUDES_WORDS}, as they come:` : '';
  const steps = stepsShown(now, options);
  const below = [
    ...(spoken ? [...(whose ? [small(whose)] : []), quote(spoken)] : []),
    ...windows(record, options),
  ];
  const room = SHOWN - head.length - spoken.length - whose.length - 'StepsEvidence'.length;
  const tasks = fitting(
    {
      seen: linesToSee(events, options).map((spans) => ({
        title: cut(plainOf(spans, options), SHOWN_TO_SEE),
        status: 'error',
      })),
      hypotheses: weighedSoFar(events)
        .slice(-SHOWN_HYPOTHESES)
        .map((each) => hypothesisTask(each, SHOWN_TASK)),
      steps: steps.map((step) => ({
        title: cut(plainOf(step.spans, options), SHOWN_TASK),
        status: step.mark === '✗' || step.mark === '⊘' ? 'error' : 'complete',
      })),
    },
    room,
  );
  return {
    head,
    blocks: [planBlock(head, tasks), ...below],
    simpler: [planText(head, tasks), ...below],
  };
}

interface Tasks {
  readonly seen: readonly Task[];
  readonly hypotheses: readonly Task[];
  readonly steps: readonly Task[];
}

/** What nobody may miss, the newest step, how the explanations stand, then further steps: as many as there is room for, the newest. */
function fitting({ seen, hypotheses, steps }: Tasks, room: number): readonly Task[] {
  let left = room;
  // A mark and the end of its line are two more.
  const fits = ({ title }: Task): boolean => {
    left -= title.length + 3;
    return left >= 0;
  };
  const must = seen.filter(fits);
  const newest = steps.slice(-1).filter(fits);
  const weighed = hypotheses.toReversed().filter(fits);
  const older: Task[] = [];
  for (const step of steps.slice(0, -1).toReversed()) {
    if (!fits(step)) break;
    older.unshift(step);
  }
  return [...must, ...weighed.toReversed(), ...older, ...newest];
}

function drawOver(record: IncidentRecord, rounds: readonly Round[], options: DrawOptions): Drawn {
  const last = diagnosesOf(record.events).at(-1);
  const head = facts(
    `Investigated${rounds.length > 1 ? ` ${count(rounds.length, 'time')}` : ''}${took(rounds)}`,
    looks(rounds),
    last ? formatHowSureShort(last.diagnosis) : null,
  );
  const reads = options.mayReadAgain === true ? openReads(record) : [];
  const more = reads.length - SHOWN_LINES;
  return {
    head,
    blocks: [
      prose(
        paragraph(words(head)),
        ...linesToSee(record.events, options).map((spans) => paragraph(words('⚠ '), ...spans)),
      ),
      ...reads.slice(0, SHOWN_LINES).flatMap((read) => drawOpenRead(read, true)),
      ...(more > 0 ? [small(`${more} more could not be read: under Evidence.`)] : []),
      ...windows(record, options),
    ],
  };
}

/** What is one press away: every step, and what the newest diagnosis stands on. */
function windows({ incident, events }: IncidentRecord, options: DrawOptions): readonly Block[] {
  const looked = diagnosesOf(events).length;
  const both = [
    ...(events.some((event) => stepOf(event, options))
      ? [button({ text: 'Steps', action: ACTIONS.steps, value: incident.id })]
      : []),
    ...(looked > 0
      ? [button({ text: 'Evidence', action: ACTIONS.diagnosis, value: `${incident.id}:${looked}` })]
      : []),
  ];
  return both.length > 0 ? [buttons(...both)] : [];
}

/** What stays in sight, the newest of each kind with how many more there are like it. */
function linesToSee(events: readonly IncidentEvent[], options: DrawOptions): readonly (readonly Span[])[] {
  const kinds = new Map<string, { readonly seen: readonly Span[]; readonly times: number }>();
  for (const event of events) {
    const seen = stepOf(event, options)?.seen;
    if (!seen) continue;
    const times = (kinds.get(event.type)?.times ?? 0) + 1;
    kinds.delete(event.type);
    kinds.set(event.type, { seen, times });
  }
  return [...kinds.values()]
    .slice(-SHOWN_LINES)
    .map(({ seen, times }) => (times > 1 ? [...seen, words(` (and ${times - 1} more)`)] : seen));
}

/** For where only plain text stands. */
const plainOf = (spans: readonly Span[], options: DrawOptions): string =>
  oneLine(
    spans
      .map((each) => {
        if (each.type === 'text') return each.text;
        if (each.type === 'link') return each.text ?? each.url;
        if (each.type === 'user') return options.nameOf?.(each.user_id) ?? 'somebody';
        return each.type === 'date' ? (each.fallback ?? '') : '';
      })
      .join(''),
  );

/** The lines that led to the diagnosis. What was run and whether it helped have messages of their own. */
function stepsShown(round: Round, options: DrawOptions): readonly Step[] {
  const recalled = new Set<string>();
  const steps: Step[] = [];
  for (const event of round.events) {
    // A hint is an explanation, and stands with those.
    if (event.type === 'hint.given' || (event.type === 'tool.called' && !isLook(event))) continue;
    if (isCallOfLook(event, round.events)) continue;
    if (event.type === 'memory.recalled' && event.incidents.length > 0) {
      const fresh = event.incidents.some(({ incidentId }) => !recalled.has(incidentId));
      for (const { incidentId } of event.incidents) recalled.add(incidentId);
      if (!fresh) continue;
    } else if (event.type === 'memory.recalled' && event.heldBack) {
      if (recalled.has(event.heldBack)) continue;
      recalled.add(event.heldBack);
    }
    const step = stepOf(event, options);
    if (step && !step.seen) steps.push(step);
  }
  return steps;
}

/** A look for the cause, as opposed to a proposal, what was run, looks whether that helped, and what MCP clients read. */
const isLook = (event: IncidentEvent): boolean =>
  event.type === 'tool.called' && !['surgeon', 'validator', 'mcp'].includes(event.role);

/** How long it took to the diagnoses: what people took to decide is not investigating. */
function took(rounds: readonly Round[]): string {
  const ms = rounds.reduce((sum, { events }) => {
    const first = events.find(isWork);
    const last =
      events.findLast((event) => event.type === 'diagnosis.concluded') ??
      events.findLast((event) => isLook(event) || event.type === 'triage.concluded');
    return sum + (first && last ? Math.max(0, Date.parse(last.at) - Date.parse(first.at)) : 0);
  }, 0);
  const said = lasted(ms);
  return said === '0 s' ? '' : ` in ${said}`;
}

function looks(rounds: readonly Round[]): string | null {
  const made = rounds
    .flatMap(({ events }) => events)
    .filter(
      (event) =>
        isLook(event) &&
        !(event.type === 'tool.called' && (isMemoryToolName(event.tool) || isChangesToolName(event.tool))),
    ).length;
  return made === 0 ? null : `${count(made, 'look')} at the live system`;
}

const quote = (text: string): Block => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_quote', elements: [words(text)] }],
});
