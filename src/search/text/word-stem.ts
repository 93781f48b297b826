import { stem } from './stem.ts';
import { shortForms } from './synonyms.ts';

const CACHED = 50_000;
const cache = new Map<string, string>();

/** `synchronise`, `utilisation`; not `raise`. */
const BRITISH = /(?<=.{4})is(e[drs]?|ing|ations?)$/;

/** The stem of a word in lower case, its short form written out, British `-ise` as `-ize`. */
export function wordStem(word: string): string {
  const known = cache.get(word);
  if (known !== undefined) return known;
  const result = stem((shortForms.get(word) ?? word).replace(BRITISH, 'iz$1'));
  if (cache.size >= CACHED) cache.clear();
  cache.set(word, result);
  return result;
}
