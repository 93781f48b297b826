import { endianness } from 'node:os';
import { termHash } from './term-hash.ts';
import type { WeighedTerm } from './weigh-entry.ts';

/**
 * An entry's terms as one value, sorted by hash: all hashes (4 bytes, low first), all weights (1 byte, of 255), all flags
 * (1 byte). It is what an entry is scored by; postings only find it.
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

/** Bytes a term. */
const SIZE = 6;
const IN_TITLE = 1;
const TITLE_WORD = 2;
const POSTED = 4;

export function encodeForward(terms: readonly WeighedTerm[]): Buffer {
  const sorted = terms
    .map((term) => ({ ...term, hash: termHash(term.term) }))
    .sort((a, b) => a.hash - b.hash);
  const n = sorted.length;
  const bytes = Buffer.alloc(n * SIZE);
  sorted.forEach((term, i) => {
    bytes.writeInt32LE(term.hash, i * 4);
    bytes[n * 4 + i] = asByte(term.weight);
    bytes[n * 5 + i] =
      (term.inTitle ? IN_TITLE : 0) | (term.isTitleWord ? TITLE_WORD : 0) | (term.posted ? POSTED : 0);
  });
  return bytes;
}

function asByte(weight: number): number {
  return Math.max(1, Math.round(weight * 255));
}

export function readForward(bytes: Buffer): Forward {
  const n = Math.floor(bytes.length / SIZE);
  const hashes = hashesOf(bytes, n);
  const weights = bytes.subarray(n * 4, n * 5);
  const flags = bytes.subarray(n * 5, n * 6);
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
    titleWords() {
      const found: number[] = [];
      for (let i = 0; i < n; i += 1) if ((flags[i] ?? 0) & TITLE_WORD) found.push(hashes[i] ?? 0);
      return found;
    },
    posted() {
      const found: { hash: number; weight: number; inTitle: boolean }[] = [];
      for (let i = 0; i < n; i += 1) {
        const flag = flags[i] ?? 0;
        if (!(flag & POSTED)) continue;
        found.push({ hash: hashes[i] ?? 0, weight: weights[i] ?? 0, inTitle: (flag & IN_TITLE) !== 0 });
      }
      return found;
    },
  };
}

/** A typed array is searched several times faster than a buffer is read. */
function hashesOf(bytes: Buffer, n: number): Int32Array {
  if (endianness() === 'LE')
    return new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + n * 4));
  return Int32Array.from({ length: n }, (_, i) => bytes.readInt32LE(i * 4));
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
