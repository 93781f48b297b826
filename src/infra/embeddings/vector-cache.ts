import { sha256 } from '../../safety/sha256.ts';

const KEPT = 2_000;

/** Vectors of texts by their hash, the latest 2,000: what is embedded again costs nothing. */
export interface VectorCache {
  get(text: string): readonly number[] | undefined;
  set(text: string, vector: readonly number[]): void;
}

export function createVectorCache(): VectorCache {
  const kept = new Map<string, readonly number[]>();
  const keyOf = (text: string) => sha256(text, 'base64');
  return {
    get(text) {
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
      kept.set(keyOf(text), vector);
      const [oldest] = kept.keys();
      if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    },
  };
}
