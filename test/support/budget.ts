import { isRecord } from '../../playground/slack/validate/rules.ts';
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
  /** What may do harm is read before it is pressed: its command stands open. */
  cardHighRisk: 650,
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
  /** Of those, the ones that are of high risk. */
  readonly high?: ReadonlySet<string>;
}

export const momentOf = ({ incident, actions }: IncidentRecord): Moment => ({
  isWorking: ['open', 'triaging', 'diagnosing', 'planning'].includes(incident.state),
  open: new Set(actions.filter(({ state }) => state === 'proposed').map(({ planId }) => `action:${planId}`)),
  high: new Set(actions.filter(({ risk }) => risk === 'high').map(({ planId }) => `action:${planId}`)),
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
        limit: !moment.open.has(slot)
          ? BUDGET.cardDecided
          : moment.high?.has(slot)
            ? BUDGET.cardHighRisk
            : BUDGET.cardOpen,
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

/**
 * Whom a new message may mention, and why: only what needs somebody does. Edits notify nobody, and what is said of people
 * stands there as their names. Of a need nobody is mentioned twice.
 */
export const PINGS: readonly { readonly slot: RegExp; readonly most: number; readonly why: string }[] = [
  {
    slot: /^action:/,
    most: 5,
    why: 'a card that waits: the group on call, else whoever has it or may decide',
  },
  { slot: /^call:/, most: 10, why: 'a level of escalation, whom the ladder names for it' },
  { slot: /^assigned:/, most: 1, why: 'whoever was given the incident by somebody else' },
];

/** Everybody whom a message notifies when it is posted: people, groups, a whole channel; each once, as Slack does. */
export function pingsOf({ text, blocks, strip }: Pick<Slot, 'text' | 'blocks' | 'strip'>): readonly string[] {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (!isRecord(node)) return;
    const { type, user_id, usergroup_id, range } = node;
    if (type === 'user') found.add(String(user_id));
    else if (type === 'usergroup') found.add(String(usergroup_id));
    else if (type === 'broadcast') found.add(`@${String(range)}`);
    // `plain_text` and the pieces of `rich_text` are shown as they are written.
    else if (type === 'mrkdwn' || type === 'markdown') marked(String(node['text']));
    Object.values(node).forEach(walk);
  };
  const marked = (said: string): void => {
    for (const [, id, all] of said.matchAll(
      /<(?:@|!subteam\^)([A-Z0-9]+)[^>]*>|<!(here|channel|everyone)[^>]*>/g,
    ))
      found.add(id ?? `@${all}`);
  };
  marked(text);
  walk(blocks);
  if (strip) marked(strip.text);
  return [...found];
}

/** What each need is: whom it has asked already need not hear of it again. A card is one, and so is each level of a call. */
export function needOf(slot: string, { events }: IncidentRecord): string {
  const call = events.find((event) => `call:${event.seq}` === slot);
  return call?.type === 'person.called' ? `level ${call.level}, ${call.reason}` : slot;
}
