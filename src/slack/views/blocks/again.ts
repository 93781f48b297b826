import { count } from '../../../core/count.ts';
import { isResting } from '../../../core/effort.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentState } from '../../../core/incident.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { bold, button, buttons, moment, paragraph, prose, words } from './build.ts';
import { drawClosing, hasEnded } from './closing.ts';
import { span } from './labels.ts';
import { howOften, type Opening, openingsOf } from './openings.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type Options = Partial<DrawOptions>;
/** A message, and the event in whose place it stands. */
export interface Placed {
  readonly seq: number;
  readonly slot: Slot;
}

type Repeated = Extract<IncidentEvent, { type: 'alert.repeated' }>;
type Flapping = Extract<IncidentEvent, { type: 'alert.flapping' }>;

/** A time in which an incident waits for people, or is ignored, and what its alerts said in it. */
interface Rest {
  /** From 1. */
  readonly number: number;
  /** The move that began it. */
  readonly since: number;
  readonly state: IncidentState;
  readonly repeats: readonly Repeated[];
  /** It came to rest because its alert comes and goes. */
  readonly flapping: Flapping | null;
  /** It still does. */
  readonly isLast: boolean;
}

const why: Partial<Readonly<Record<IncidentState, (ask: string) => string>>> = {
  reported: (ask) => `I have not looked into it since. Press “${ask}”, or mention me with a hint.`,
  escalated: (ask) => `I have not looked into it since. Press “${ask}”, or mention me with a hint.`,
  ignored: () => 'I have not looked again: the first look found nothing to investigate.',
  stopped: () => 'I have not looked again: it is stopped. Mention me with “resume”, and I go on.',
};

const byPolicy = (ask: string): string => `The policy asks for no more. Press “${ask}” if you want more.`;
/** A limit keeps the fix back for now. */
const ASKS_AGAIN = 'I ask again by myself at ';
const FLAPPING = 'I do not look into each time. I look again once it stays, or when you ask.';

/**
 * For each such time one message, edited as it counts up: an alert that is taken in without any work is seen. Where it came back
 * only to flap, this is the line of that opening, and at its end says how it ended.
 */
export function drawAgain(record: IncidentRecord, options: Options = {}): readonly Placed[] {
  const openings = openingsOf(record);
  return restsOf(record).flatMap((rest) => {
    const first = rest.flapping ?? rest.repeats[0];
    if (!first) return [];
    const slot = drawRest(record, rest);
    const opening = openings.find(({ reopened }) => reopened !== null && reopened.seq === rest.since);
    const isClosed = rest.flapping !== null && opening !== undefined && hasEnded(opening);
    return [
      { seq: first.seq, slot: isClosed ? { ...slot, ...drawClosing(record, opening, options) } : slot },
    ];
  });
}

/** A line for each time it came back, edited to how that time ended. What only flaps has its own, see `drawAgain`. */
export function drawReopened(record: IncidentRecord, options: Options): readonly Placed[] {
  return openingsOf(record).flatMap((opening) => {
    const { reopened, number, cameBackBy } = opening;
    if (reopened === null || cameBackBy.some(({ type }) => type === 'alert.flapping')) return [];
    const drawn = hasEnded(opening)
      ? drawClosing(record, opening, options)
      : cameBack(record, { ...opening, reopened }, options);
    return [{ seq: reopened.seq, slot: { slot: `again:opening-${number}`, inThread: true, ...drawn } }];
  });
}

function cameBack(
  { incident, actions }: IncidentRecord,
  opening: Opening & { readonly reopened: NonNullable<Opening['reopened']> },
  options: Options,
): Pick<Slot, 'text' | 'blocks'> {
  const { reopened, cameBackBy } = opening;
  const fires = cameBackBy.some((event) => event.type === 'alert.repeated' && event.over !== true);
  const undo = cameBackBy.findLast(
    (event) =>
      event.type === 'action.finished' &&
      actions.some(({ id, undoes }) => id === event.actionId && undoes !== null),
  );
  const by =
    undo?.type === 'action.finished' ? actions.find(({ id }) => id === undo.actionId)?.requestedBy : null;
  const who = (by && options.nameOf?.(by)) || 'A person';
  const isUndone = undo !== undefined && !fires;
  const head = fires ? 'Fires again' : isUndone ? `${cut(oneLine(who), 30)} undid the fix` : 'It is back';
  // How often it was opened says nothing of how often it was undone.
  const often = isUndone ? '' : ` (${howOften(opening, incident)})`;
  const next =
    reopened.to === 'diagnosing'
      ? isUndone
        ? ' I look whether the problem is there again.'
        : ' I look again.'
      : reopened.to === 'reported'
        ? ' The policy asks for no more.'
        : '';
  return {
    text: escape(oneLine(`${incident.id}: ${head}${often}.${next}`)),
    blocks: [
      prose(paragraph(words('🔁 '), bold(head), words(', '), moment(reopened.at), words(`${often}.${next}`))),
    ],
  };
}

function drawRest({ incident, events }: IncidentRecord, rest: Rest): Slot {
  const { state, isLast, number, flapping } = rest;
  const { head, at } = headOf(rest);
  const ask = askLabel(events);
  const asksAt = isLast && !flapping && state === 'reported' ? incident.asksAgainAt : null;
  const saysWhy = restsByPolicy(incident) ? byPolicy : why[state];
  const says = !isLast ? '' : ` ${flapping ? FLAPPING : asksAt ? ASKS_AGAIN : (saysWhy?.(ask) ?? '')}`;
  const mayAsk = isLast && state !== 'stopped';
  return {
    slot: `again:${number}`,
    inThread: true,
    text: escape(oneLine(`${incident.id}: ${head}.${says}${asksAt ? `${asksAt.slice(11, 16)} UTC.` : ''}`)),
    blocks: [
      prose(
        paragraph(
          words('🔁 '),
          bold(head),
          words(', last at '),
          moment(at),
          words(`.${says}`),
          ...(asksAt ? [moment(asksAt), words('.')] : []),
        ),
      ),
      ...(mayAsk ? [buttons(button({ text: ask, action: ACTIONS.investigate, value: incident.id }))] : []),
    ],
  };
}

const restsByPolicy = ({ state, effort }: IncidentRecord['incident']): boolean =>
  state === 'reported' && isResting(effort);

/** What the button is called that has it looked into: *again* only where the cause has been looked for before. */
export const askLabel = (events: readonly IncidentEvent[]): string =>
  events.some((event) => event.type === 'state.changed' && event.from === 'diagnosing')
    ? 'Investigate again'
    : 'Investigate';

function headOf({ repeats, flapping }: Rest): { readonly head: string; readonly at: string } {
  if (flapping) {
    const flips = [...flapping.flips, ...repeats.filter(({ again }) => again).map(({ at }) => at)];
    const [from = flapping.at, to = from] = [flips[0], flips.at(-1)];
    return { head: `Flapping: ${count(flips.length, 'time')} in ${span(from, to)}`, at: to };
  }
  const joined = repeats.filter(({ members }) => members !== undefined).length;
  const fired = repeats.length - joined;
  const parts = [
    ...(fired > 0 ? [`Its alert still fires: sent again${fired > 1 ? ` ${fired} times` : ''}`] : []),
    ...(joined > 0 ? [`${count(joined, 'more alert')} of its group fired`] : []),
  ];
  return { head: parts.join(', and '), at: repeats.at(-1)?.at ?? '' };
}

function restsOf({ events }: IncidentRecord): readonly Rest[] {
  const rests: (Rest & { repeats: Repeated[] })[] = [];
  let flapping: Flapping | null = null;
  let isResting = false;
  let occurrences = 1;
  for (const event of events) {
    if (event.type === 'state.changed') {
      isResting = why[event.to] !== undefined;
      if (isResting)
        rests.push({
          number: rests.length + 1,
          since: event.seq,
          state: event.to,
          repeats: [],
          flapping,
          isLast: false,
        });
      flapping = null;
    } else if (event.type === 'alert.flapping') flapping = event;
    else if (event.type === 'alert.repeated') {
      // The same occurrence by another way, and one that was over, are no news.
      const isNews = event.members !== undefined || event.occurrences > occurrences;
      occurrences = event.occurrences;
      if (isResting && isNews && !event.over) rests.at(-1)?.repeats.push(event);
    }
  }
  return rests.map((rest, index) => ({ ...rest, isLast: isResting && index === rests.length - 1 }));
}
