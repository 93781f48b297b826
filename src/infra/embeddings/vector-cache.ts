import { readFileSync } from 'node:fs';
import { sha256 } from '../../safety/sha256.ts';

const KEPT = 2_000;
const HASH_BYTES = 32;

/** Vectors of texts by their hash, the latest 2,000: what is embedded again costs nothing. */
export interface VectorCache {
  get(text: string): readonly number[] | undefined;
  set(text: string, vector: readonly number[]): void;
}

/** `begin`: what it begins with; asked for at the first use, because many a command embeds nothing. */
export function createVectorCache(
  begin: () => Map<string, readonly number[]> = () => new Map(),
): VectorCache {
  let read: Map<string, readonly number[]> | undefined;
  const all = () => {
    read ??= begin();
    return read;
  };
  const keyOf = (text: string) => sha256(text, 'base64');
  return {
    get(text) {
      const kept = all();
      const key = keyOf(text);
      const known = kept.get(key);
      if (known) {
        // Moved to the end: the map forgets from its beginning.
        kept.delete(key);
        kept.set(key, known);
      }
      return known;
    },
    set(text, vector) {
      const kept = all();
      kept.set(keyOf(text), vector);
      const [oldest] = kept.keys();
      if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    },
  };
}

/** The texts' hashes, each followed by its vector of 32-bit floats; scripts/lib/embed-runbooks.mjs writes it. */
export function readVectors(file: URL, dimensions: number): Map<string, readonly number[]> {
  const vectors = new Map<string, readonly number[]>();
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    // From the sources, or compiled without it: everything is embedded when it is first wanted.
    return vectors;
  }
  const size = HASH_BYTES + dimensions * Float32Array.BYTES_PER_ELEMENT;
  for (let at = 0; at + size <= bytes.length; at += size) {
    const vector = new Float32Array(Uint8Array.from(bytes.subarray(at + HASH_BYTES, at + size)).buffer);
    vectors.set(bytes.toString('base64', at, at + HASH_BYTES), [...vector]);
  }
  return vectors;
}
