import { ACTIONS } from '../../src/slack/views/blocks/slot.ts';

/** A message of a thread as Slack shows it, of what an incident's thread says of its state. */
export interface Standing {
  readonly slot: string;
  readonly strip: string;
  readonly blocks: readonly unknown[];
}

type Says = 'asks' | 'over';

/** What a message of the thread tells of the state, by its slot. */
const SAYS: Readonly<Record<Says, (message: Standing) => boolean>> = {
  /** A card that waits for somebody. */
  asks: ({ slot, blocks }) =>
    slot.startsWith('action:') && JSON.stringify(blocks).includes(`"${ACTIONS.deny}"`),
  /** The closing of the first opening; later ones stand in a line that is posted when it comes back. */
  over: ({ slot }) => slot === 'summary:1',
};

/** What the root's strip says, and what no other message may say beside it; or must. */
export const CONTRADICTIONS: readonly {
  readonly root: RegExp;
  readonly not?: readonly Says[];
  readonly must?: readonly Says[];
}[] = [
  { root: /^Waiting for approval/, must: ['asks'] },
  { root: /^(Just opened|Taking a first look|Looking for|Nothing to investigate)/, not: ['asks'] },
  { root: /^(Approved|Somebody said no|Nobody decided|The fix was called off)/, not: ['asks'] },
  { root: /^(Running the approved fix|Checking that it is gone)/, not: ['asks'] },
  { root: /^(Resolved|Over|Closed)/, not: ['asks'] },
  { root: /^(Over to you|A person is needed|Waiting to ask again|Flapping|Muted|Part of)/, not: ['asks'] },
];

/** Pairs of messages that say different things. */
export function contradictions(thread: readonly Standing[]): readonly string[] {
  const strip = thread.find(({ slot }) => slot === 'root')?.strip ?? '';
  const rule = CONTRADICTIONS.find(({ root }) => root.test(strip));
  if (rule === undefined) return [];
  const said = (what: Says): boolean => thread.some(SAYS[what]);
  return [
    ...(rule.not ?? []).filter(said).map((what) => `“${strip}”, and a message ${what}`),
    ...(rule.must ?? []).filter((what) => !said(what)).map((what) => `“${strip}”, and no message ${what}`),
  ];
}
