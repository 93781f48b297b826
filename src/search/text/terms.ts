import { conceptsIn } from './concepts.ts';
import { splitWords } from './split-words.ts';
import { stopWords } from './stop-words.ts';
import { shortForms } from './synonyms.ts';
import { wordStem } from './word-stem.ts';

/**
 * What a text is found by.
 *
 * - `word`: a stem.
 * - `whole`: an identifier in one piece (`kubepodcrashloop`, `pgstatact`), beside its words.
 * - `pair`: two neighbouring words in one piece: a phrase, and how others write it as one word (`dead lock`, `deadlock`).
 *   The second word's stem is the pair's, or nearly so, and stemming every pair would be most of the work.
 * - `concept`: a condition of the synonym table, in whichever words.
 */
export type Term =
  | { readonly kind: 'word' | 'whole' | 'concept'; readonly text: string }
  | { readonly kind: 'pair'; readonly text: string; readonly of: readonly [string, string] };

/** Longer words are hashes and encoded data. */
const LONGEST_WORD = 40;
const LONGEST_IDENTIFIER = 80;
/** Longer numbers are ids, times and addresses. */
const LONGEST_NUMBER = 5;

/** The terms of a text in their order, repeated as often as they occur. Pairs and concepts do not cross a sentence's end. */
export function termsOf(text: string): readonly Term[] {
  return text.split(/\n|[.;:!?](?=\s|$)/).flatMap(termsOfSentence);
}

/** Joined by `_`, `-` or `.`, or by capitals within: `KubePodCrashLooping`, `pg_stat_activity`, `etcd.disk.wal`. */
const IDENTIFIER = /[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*/g;

function termsOfSentence(sentence: string): readonly Term[] {
  const terms: Term[] = [];
  const stems: string[] = [];
  let previous: string | null = null;
  for (const identifier of sentence.match(IDENTIFIER) ?? []) {
    const words = splitWords(identifier);
    if (words.length > 1 && identifier.length <= LONGEST_IDENTIFIER)
      terms.push({ kind: 'whole', text: wordStem(words.join('')) });
    for (const [n, part] of words.entries()) {
      const word = shortForms.get(part) ?? part;
      if (isNoise(word)) {
        previous = null;
        stems.push('');
        continue;
      }
      const stem = wordStem(word);
      stems.push(stem);
      if (stopWords.has(word)) continue;
      terms.push({ kind: 'word', text: stem });
      // An identifier of two words is its own pair.
      const isWhole = words.length === 2 && n === 1;
      if (previous !== null && !isWhole)
        terms.push({ kind: 'pair', text: previous + stem, of: [wordStem(previous), stem] });
      previous = word;
    }
  }
  for (const text of conceptsIn(stems)) terms.push({ kind: 'concept', text });
  return terms;
}

function isNoise(word: string): boolean {
  return word.length > LONGEST_WORD || (word.length > LONGEST_NUMBER && /^\d+$/.test(word));
}
