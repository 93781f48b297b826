import type { Slot } from '../views/blocks/slot.ts';
import { hashOf } from './message.ts';
import type { PostRow } from './store.ts';

/** The one next thing to do so that Slack shows what was drawn. */
export type NextCall =
  | { readonly kind: 'post'; readonly slot: Slot; readonly row: PostRow | undefined }
  | { readonly kind: 'edit'; readonly slot: Slot; readonly row: PostRow };

/**
 * Missing messages first, in their order; then edits, of the root and of settled messages before the live one. Where somebody has
 * just pressed a button, the card that still shows it goes before all.
 */
export function nextCall(
  slots: readonly Slot[],
  posts: ReadonlyMap<string, PostRow>,
  isPressed = false,
): NextCall | null {
  const standing = slots.flatMap((slot) => {
    const row = posts.get(slot.slot);
    return row?.ts ? [{ kind: 'edit', slot, row } as const] : [];
  });
  const differing = standing.filter(({ slot, row }) => row.sentHash !== hashOf(slot));
  const card = differing.find(({ slot }) => isPressed && /^(action|call):/.test(slot.slot));
  if (card) return card;
  const missing = slots.find(({ slot }) => !posts.get(slot)?.ts);
  if (missing) return { kind: 'post', slot: missing, row: posts.get(missing.slot) };
  return differing.find(({ slot }) => !slot.live) ?? differing[0] ?? null;
}
