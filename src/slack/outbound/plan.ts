import type { Slot } from '../views/blocks/slot.ts';
import { hashOf } from './message.ts';
import type { PostRow } from './store.ts';

/** The one next thing to do so that Slack shows what was drawn. */
export type NextCall =
  | { readonly kind: 'post'; readonly slot: Slot; readonly row: PostRow | undefined }
  | { readonly kind: 'edit'; readonly slot: Slot; readonly row: PostRow };

/** Missing messages first, in their order; then edits, of the root and of settled messages before the live one. */
export function nextCall(slots: readonly Slot[], posts: ReadonlyMap<string, PostRow>): NextCall | null {
  for (const slot of slots) {
    const row = posts.get(slot.slot);
    if (!row?.ts) return { kind: 'post', slot, row };
  }
  const differing = slots.filter((slot) => posts.get(slot.slot)?.sentHash !== hashOf(slot));
  const slot = differing.find((each) => !each.live) ?? differing[0];
  const row = slot && posts.get(slot.slot);
  return slot && row ? { kind: 'edit', slot, row } : null;
}
