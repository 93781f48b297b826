import type { Tx } from '../../core/sql.ts';
import { countTerms, type OpenSpace } from '../index/read-index.ts';

/** Common terms, whose count a few more entries do not change; what is rare is counted each time. */
const COMMON = 1_000;
const REMEMBERED_MS = 30_000;
const REMEMBERED = 50_000;

export interface TermCount {
  readonly spaceId: number;
  readonly hash: number;
  readonly entries: number;
}

/** How many entries have a term, remembered for a while where that cannot hide an entry. */
export interface TermCounts {
  /** For finding: only counts of common terms may be old. */
  now(tx: Tx, spaces: readonly OpenSpace[], hashes: readonly number[]): Promise<readonly TermCount[]>;
  /** For weighing: any count may be half a minute old. */
  recent(tx: Tx, spaces: readonly OpenSpace[], hashes: readonly number[]): Promise<readonly TermCount[]>;
}

export function createTermCounts(clock: () => number = () => performance.now()): TermCounts {
  // By space, then by term; numbers as keys, because a search asks for some thousands.
  const known = new Map<number, Map<number, Remembered>>();
  const ofSpace = (id: number): Map<number, Remembered> => {
    const there = known.get(id) ?? new Map<number, Remembered>();
    if (there.size > REMEMBERED) there.clear();
    known.set(id, there);
    return there;
  };
  const count = async (
    tx: Tx,
    spaces: readonly OpenSpace[],
    hashes: readonly number[],
    least: number,
  ): Promise<readonly TermCount[]> => {
    const since = clock() - REMEMBERED_MS;
    const remembered = spaces.map(({ id }) => ({ id, terms: ofSpace(id) }));
    const counts: TermCount[] = [];
    // A term is asked for in all spaces when it is unknown in one: one statement, however many spaces.
    const unknown = hashes.filter((hash) => {
      for (const { terms } of remembered) {
        const one = terms.get(hash);
        if (!one || one.at < since || one.entries < least) return true;
      }
      for (const { id, terms } of remembered) {
        const entries = terms.get(hash)?.entries ?? 0;
        if (entries > 0) counts.push({ spaceId: id, hash, entries });
      }
      return false;
    });
    const counted = await countTerms(tx, spaces, unknown);
    const at = clock();
    const none = { entries: 0, at };
    for (const { terms } of remembered) for (const hash of unknown) terms.set(hash, none);
    for (const { spaceId, hash, entries } of counted) known.get(spaceId)?.set(hash, { entries, at });
    return [...counts, ...counted];
  };
  return {
    now: (tx, spaces, hashes) => count(tx, spaces, hashes, COMMON),
    recent: (tx, spaces, hashes) => count(tx, spaces, hashes, 0),
  };
}

interface Remembered {
  readonly entries: number;
  readonly at: number;
}
