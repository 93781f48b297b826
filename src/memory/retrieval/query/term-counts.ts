import type { Tx } from '../../../domain/sql.ts';
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
  const known = new Map<string, { readonly entries: number; readonly at: number }>();
  const count = async (
    tx: Tx,
    spaces: readonly OpenSpace[],
    hashes: readonly number[],
    least: number,
  ): Promise<readonly TermCount[]> => {
    const since = clock() - REMEMBERED_MS;
    const counts: TermCount[] = [];
    // A term is asked for in all spaces when it is unknown in one: one statement, however many spaces.
    const unknown = hashes.filter((hash) => {
      const remembered = spaces.map(({ id }) => ({ id, at: known.get(`${id} ${hash}`) }));
      if (!remembered.every(({ at }) => at && at.at > since && at.entries >= least)) return true;
      for (const { id, at } of remembered)
        if (at && at.entries > 0) counts.push({ spaceId: id, hash, entries: at.entries });
      return false;
    });
    const counted = await countTerms(tx, spaces, unknown);
    const at = clock();
    if (known.size > REMEMBERED) known.clear();
    for (const { id } of spaces) for (const hash of unknown) known.set(`${id} ${hash}`, { entries: 0, at });
    for (const one of counted) known.set(`${one.spaceId} ${one.hash}`, { entries: one.entries, at });
    return [...counts, ...counted];
  };
  return {
    now: (tx, spaces, hashes) => count(tx, spaces, hashes, COMMON),
    recent: (tx, spaces, hashes) => count(tx, spaces, hashes, 0),
  };
}
