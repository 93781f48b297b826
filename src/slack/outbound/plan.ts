import type { Slot } from '../views/blocks/slot.ts';
import { hashOf } from './message.ts';
import type { PostRow } from './store.ts';

/** One thing to do so that Slack shows what was drawn. */
export type NextCall = (
  | { readonly kind: 'post'; readonly slot: Slot; readonly row: PostRow | undefined }
  | { readonly kind: 'edit'; readonly slot: Slot; readonly row: PostRow }
) & {
  /** The root and what it has to agree with go together, without a wait between them: it right before their edits, right after their posts. */
  readonly inTurn?: true;
};

/** Cards, calls and closings: what somebody decides, or acts on. The rest of a thread's edits tell how it goes on. */
export const isUrgent = ({ slot }: Slot): boolean =>
  /^(action|call|escalation|summary|again):|^card$/.test(slot);

/** What the root has to agree with: that somebody is asked, has decided, that it is over or back. */
export const turnsRoot = ({ slot }: { readonly slot: Slot }): boolean =>
  /^(action|summary|again):/.test(slot.slot);

/** What answers a question of somebody who waits for it; not its words while they are written. */
export const isAnswer = ({ slot, live = false }: Slot): boolean => !live && /^(answer|followup):/.test(slot);

/** The message in which an earlier version told the same: what stands there is old news, and is not posted again. */
const formerOf = (slot: string): string =>
  slot.replace(/^headsup:(?=\d+$)/, 'diagnosis:').replace(/^again:opening-(?=\d+$)/, 'summary:');

/**
 * What is left to do, the first thing first. Edits of cards and closings, then the first missing message, since they stand in their
 * order, then the other edits: what was edited longest ago, the live message last. Where somebody has just pressed a button, the
 * card that still shows it goes before all. The root goes right before a card or a closing that changes, and right after one that
 * comes, whose mention waits for no edit: two messages of one thread do not say different things until the root's own turn comes.
 * `isBehind`: one has come since the root was last sent.
 */
export function nextCalls(
  slots: readonly Slot[],
  posts: ReadonlyMap<string, PostRow>,
  isPressed = false,
  isBehind = false,
): readonly NextCall[] {
  const edits = slots.flatMap((slot) => {
    const row = posts.get(slot.slot);
    return row?.ts && row.sentHash !== hashOf(slot) ? [{ kind: 'edit', slot, row } as const] : [];
  });
  const missing = slots.find(({ slot }) => !posts.get(slot)?.ts && !posts.get(formerOf(slot))?.ts);
  const post: readonly NextCall[] = missing
    ? [{ kind: 'post', slot: missing, row: posts.get(missing.slot) }]
    : [];
  const isCard = ({ slot }: NextCall): boolean => isPressed && /^(action|call):/.test(slot.slot);
  const urgent = edits
    .filter(({ slot }) => isUrgent(slot))
    .sort((a, b) => Number(isCard(b)) - Number(isCard(a)));
  const ago = ({ row }: { readonly row: PostRow }): number => row.editedMsAgo ?? Number.MAX_VALUE;
  const rest = edits
    .filter(({ slot }) => !isUrgent(slot))
    .sort((a, b) => ago(b) - ago(a) || Number(a.slot.live ?? false) - Number(b.slot.live ?? false));
  const root = rest.filter(({ slot }) => slot.slot === 'root');
  const others = rest.filter(({ slot }) => slot.slot !== 'root');
  const comes = post.some(turnsRoot);
  const changes = urgent.some(turnsRoot);
  if (!comes && !changes && !isBehind) return [...urgent, ...post, ...rest];
  const calls =
    comes && !isPressed
      ? [...post, ...root, ...urgent, ...others]
      : changes
        ? [...root, ...urgent, ...post, ...others]
        : [...urgent, ...post, ...root, ...others];
  return calls.map((call) =>
    root.length > 0 && (call.slot.slot === 'root' || turnsRoot(call)) ? { ...call, inTurn: true } : call,
  );
}
