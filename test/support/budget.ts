import type { IncidentRecord } from '../../src/core/incident-record.ts';
import type { Slot } from '../../src/slack/views/blocks/slot.ts';
import { surfaceOf, visible } from './surface.ts';

/**
 * What a thread may show without a press, at every moment of an incident: issue 13, Part 10, “Budget” (messages, thread, root) and
 * what its messages share of it. In characters, but for the first.
 */
export const BUDGET = {
  /** Root, progress, proposal, closing. */
  messages: 4,
  thread: 1500,
  root: 700,
  progressWorking: 450,
  progressOver: 150,
  cardOpen: 450,
  cardDecided: 200,
  closing: 350,
  /** A call, a page that fails, a heads-up, a reopening, no other way, a wait, who stopped or closed it: one more message of a line or two. */
  line: 250,
} as const;

/** A message of a thread: what it is called, and how much of it is seen. */
export interface Weight {
  readonly slot: string;
  readonly characters: number;
  readonly lines: readonly string[];
}

export interface Moment {
  /** Somebody looks for the cause, or for a fix. */
  readonly isWorking: boolean;
  /** The cards that wait for a decision, by their slot. */
  readonly open: ReadonlySet<string>;
}

export const momentOf = ({ incident, actions }: IncidentRecord): Moment => ({
  isWorking: ['open', 'triaging', 'diagnosing', 'planning'].includes(incident.state),
  open: new Set(actions.filter(({ state }) => state === 'proposed').map(({ planId }) => `action:${planId}`)),
});

export interface Overrun {
  readonly what: string;
  readonly is: number;
  readonly limit: number;
}

export function weigh(slot: string, message: Parameters<typeof visible>[0]): Weight {
  return { slot, characters: visible(message), lines: surfaceOf(message) };
}

/** As it is posted: the blocks and the strip. */
export const weighSlot = ({ slot, text, blocks, strip }: Slot): Weight =>
  weigh(slot, {
    text,
    blocks,
    attachments: strip
      ? [{ blocks: [{ type: 'context', elements: [{ type: 'plain_text', text: strip.text }] }] }]
      : [],
  });

/** What may stand beside the four messages, each with its own room. */
const EXTRA =
  /^(?:again|assigned|call|called-off|escalation|headsup|no-plan|page-failed|promotion|members?|report|waits)(?::|$)/;

/** Everything that is longer than it may be, and messages too many. */
export function overruns(thread: readonly Weight[], moment: Moment): readonly Overrun[] {
  const firstCard = thread.find(({ slot }) => slot.startsWith('action:'))?.slot;
  const limitOf = ({ slot }: Weight): { readonly limit: number; readonly isExtra: boolean } | null => {
    if (slot === 'root') return { limit: BUDGET.root, isExtra: false };
    if (slot === 'live:1')
      return { limit: moment.isWorking ? BUDGET.progressWorking : BUDGET.progressOver, isExtra: false };
    if (slot === 'summary:1') return { limit: BUDGET.closing, isExtra: false };
    if (slot.startsWith('action:'))
      return {
        limit: moment.open.has(slot) ? BUDGET.cardOpen : BUDGET.cardDecided,
        isExtra: slot !== firstCard,
      };
    return EXTRA.test(slot) ? { limit: BUDGET.line, isExtra: true } : null;
  };
  const own = thread.flatMap((weight) => {
    const found = limitOf(weight);
    if (found === null)
      return [{ what: `${weight.slot}: a message of its own`, is: weight.characters, limit: 0 }];
    return weight.characters > found.limit
      ? [{ what: weight.slot, is: weight.characters, limit: found.limit }]
      : [];
  });
  const extra = thread.map(limitOf).filter((each) => each?.isExtra === true);
  const messages = BUDGET.messages + extra.length;
  // What stands beside the four brings its own room, as a card an open one's: it was as long once.
  const room =
    BUDGET.thread +
    thread
      .filter((weight) => limitOf(weight)?.isExtra)
      .reduce((sum, { slot }) => sum + (slot.startsWith('action:') ? BUDGET.cardOpen : BUDGET.line), 0);
  const characters = thread.reduce((sum, weight) => sum + weight.characters, 0);
  return [
    ...own,
    ...(thread.length > messages ? [{ what: 'messages', is: thread.length, limit: messages }] : []),
    ...(characters > room ? [{ what: 'thread', is: characters, limit: room }] : []),
  ];
}
