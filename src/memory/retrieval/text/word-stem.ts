import { stem } from './stem.ts';
import { shortForms } from './synonyms.ts';

const CACHED = 50_000;
const cache = new Map<string, string>();

/** The stem of a word in lower case, its short form written out, British `-ise` as `-ize`. */
export function wordStem(word: string): string {
  const known = cache.get(word);
  if (known !== undefined) return known;
  const stemmed = stem(shortForms.get(word) ?? word);
  const result = stemmed.length > 5 && stemmed.endsWith('is') ? `${stemmed.slice(0, -2)}iz` : stemmed;
  if (cache.size >= CACHED) cache.clear();
  cache.set(word, result);
  return result;
}
