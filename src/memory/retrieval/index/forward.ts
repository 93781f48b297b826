import { termHash } from './term-hash.ts';
import type { WeighedTerm } from './weigh-entry.ts';

/**
 * An entry's terms as one value, sorted by hash: 4 bytes hash, 1 byte weight (of 255), 1 byte flags. It is what an entry
 * is scored by; postings only find it.
 */
export interface Forward {
  /** 0–1, and what the title has of it; null when the entry has no such term. */
  find(
    hash: number,
  ): { readonly weight: number; readonly inTitle: boolean; readonly isTitleWord: boolean } | null;
  /** Hashes of the title's words. */
  titleWords(): readonly number[];
  /** What the entry is found by; `weight` of 255. */
  posted(): readonly { readonly hash: number; readonly weight: number; readonly inTitle: boolean }[];
}

const SIZE = 6;
const IN_TITLE = 1;
const TITLE_WORD = 2;
const POSTED = 4;

export function encodeForward(terms: readonly WeighedTerm[]): Buffer {
  const sorted = terms
    .map((term) => ({ ...term, hash: termHash(term.term) }))
    .sort((a, b) => a.hash - b.hash);
  const bytes = Buffer.alloc(sorted.length * SIZE);
  sorted.forEach((term, i) => {
    bytes.writeInt32BE(term.hash, i * SIZE);
    bytes[i * SIZE + 4] = asByte(term.weight);
    bytes[i * SIZE + 5] =
      (term.inTitle ? IN_TITLE : 0) | (term.isTitleWord ? TITLE_WORD : 0) | (term.posted ? POSTED : 0);
  });
  return bytes;
}

function asByte(weight: number): number {
  return Math.max(1, Math.round(weight * 255));
}

export function readForward(bytes: Buffer): Forward {
  const length = Math.floor(bytes.length / SIZE);
  const flagsAt = (i: number) => bytes[i * SIZE + 5] ?? 0;
  const hashAt = (i: number) => bytes.readInt32BE(i * SIZE);
  return {
    find(hash) {
      let low = 0;
      let high = length - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        const found = hashAt(middle);
        if (found === hash) {
          const flags = flagsAt(middle);
          return {
            weight: (bytes[middle * SIZE + 4] ?? 0) / 255,
            inTitle: (flags & IN_TITLE) !== 0,
            isTitleWord: (flags & TITLE_WORD) !== 0,
          };
        }
        if (found < hash) low = middle + 1;
        else high = middle - 1;
      }
      return null;
    },
    titleWords() {
      const found: number[] = [];
      for (let i = 0; i < length; i += 1) if (flagsAt(i) & TITLE_WORD) found.push(hashAt(i));
      return found;
    },
    posted() {
      const found: { hash: number; weight: number; inTitle: boolean }[] = [];
      for (let i = 0; i < length; i += 1) {
        const flags = flagsAt(i);
        if (!(flags & POSTED)) continue;
        found.push({
          hash: hashAt(i),
          weight: bytes[i * SIZE + 4] ?? 0,
          inTitle: (flags & IN_TITLE) !== 0,
        });
      }
      return found;
    },
  };
}
