import type { WeighedTerm } from './compute-term-weights.ts';
import { termHash } from './term-hash.ts';

/**
 * An entry's terms, by which it is scored. Stored as one value, sorted by hash: all hashes (4 bytes, low first), all
 * weights (1 byte, of 255), all flags (1 byte).
 */
export interface ForwardIndex {
  /** 0–1, and what the title has of it; null when the entry has no such term. */
  find(
    hash: number,
  ): { readonly weight: number; readonly inTitle: boolean; readonly isTitleWord: boolean } | null;
  /** Hashes of the title's words. */
  readonly titleWords: readonly number[];
  /** Hashes of what the entry is found by. */
  posted(): readonly number[];
}

/** Bytes a term. */
const SIZE = 6;
const IN_TITLE = 1;
const TITLE_WORD = 2;
const POSTED = 4;

export function encodeForwardIndex(terms: readonly WeighedTerm[]): Buffer {
  const sorted = terms
    .map((term) => ({ ...term, hash: termHash(term.term) }))
    .sort((a, b) => a.hash - b.hash);
  const n = sorted.length;
  const bytes = Buffer.alloc(n * SIZE);
  sorted.forEach(({ hash, weight, inTitle, isTitleWord, posted }, i) => {
    bytes.writeInt32LE(hash, i * 4);
    bytes[n * 4 + i] = Math.max(1, Math.round(weight * 255));
    bytes[n * 5 + i] = (inTitle ? IN_TITLE : 0) | (isTitleWord ? TITLE_WORD : 0) | (posted ? POSTED : 0);
  });
  return bytes;
}

export function readForwardIndex(bytes: Buffer): ForwardIndex {
  const n = Math.floor(bytes.length / SIZE);
  // A typed array is searched several times faster than a buffer is read.
  const hashes = new Int32Array(n);
  for (let i = 0; i < n; i += 1) hashes[i] = bytes.readInt32LE(i * 4);
  const weights = bytes.subarray(n * 4, n * 5);
  const flags = bytes.subarray(n * 5, n * 6);
  const flagged = (flag: number) => Array.from(hashes.filter((_, i) => (flags[i] ?? 0) & flag));
  const titleWords = flagged(TITLE_WORD);
  return {
    find(hash) {
      const at = indexOf(hashes, hash);
      const flag = flags[at];
      if (flag === undefined) return null;
      return {
        weight: (weights[at] ?? 0) / 255,
        inTitle: (flag & IN_TITLE) !== 0,
        isTitleWord: (flag & TITLE_WORD) !== 0,
      };
    },
    titleWords,
    posted: () => flagged(POSTED),
  };
}

/** -1 when it is not there. */
function indexOf(sorted: Int32Array, wanted: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = sorted[middle] ?? 0;
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
