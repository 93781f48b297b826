import type { Slot } from '../views/blocks/slot.ts';
import { hashOf } from './message.ts';
import type { PostRow } from './store.ts';
import type { SubjectId } from './subject.ts';

interface Pending {
  readonly slot: Slot;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/** Answers that are to stand in threads, each waited for by whoever gave it. */
export class PendingAnswers {
  readonly #of = new Map<SubjectId, readonly Pending[]>();

  /** Resolves when the slot stands in the thread with this text, or when a later text took its place. */
  add(id: SubjectId, slot: Slot): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#of.set(id, [...(this.#of.get(id) ?? []), { slot, done: resolve, failed: reject }]);
    });
  }

  has(id: SubjectId): boolean {
    return this.#of.has(id);
  }

  /** Of several texts for one slot the last. */
  newest(id: SubjectId): readonly Slot[] {
    return newestOfEach(this.#of.get(id) ?? []).map(({ slot }) => slot);
  }

  /** Ends those that stand in Slack now, and those that a later text replaced. */
  async settle(id: SubjectId, posts: () => Promise<ReadonlyMap<string, PostRow>>): Promise<void> {
    const pending = this.#of.get(id);
    if (!pending) return;
    const rows = await posts();
    // An earlier text may still stand in the slot: only this one's hash says that it is posted.
    const newest = newestOfEach(pending);
    const isPosted = ({ slot }: Pending): boolean => {
      const row = rows.get(slot.slot);
      return row?.ts != null && row.sentHash === hashOf(slot);
    };
    const ended = new Set(pending.filter((one) => isPosted(one) || !newest.includes(one)));
    for (const one of ended) one.done();
    // Others may have been added while the rows were read.
    const left = (this.#of.get(id) ?? []).filter((one) => !ended.has(one));
    if (left.length > 0) this.#of.set(id, left);
    else this.#of.delete(id);
  }

  failAll(error: Error): void {
    for (const one of [...this.#of.values()].flat()) one.failed(error);
  }
}

function newestOfEach(pending: readonly Pending[]): readonly Pending[] {
  return [...new Map(pending.map((one) => [one.slot.slot, one])).values()];
}
