import { splitWords } from './split-words.ts';
import { stopWords } from './stop-words.ts';

/** What any incident is called, beside the stop words: two that have these in common need not be alike. */
const GENERIC = new Set(
  'due error failed failure failing problem issue incident critical warning info high low new one per two via database db postgres postgresql'.split(
    ' ',
  ),
);

/**
 * The words of a text that say which problem it is, as they are written: without stop words, generic ones, numbers and
 * words shorter than three letters.
 */
export function distinctiveWords(text: string): ReadonlySet<string> {
  return new Set(
    splitWords(text).filter(
      (word) => word.length >= 3 && !/^\d/.test(word) && !stopWords.has(word) && !GENERIC.has(word),
    ),
  );
}

/** The share of the words of both that they have in common, 0–1. */
export function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}

/** How telling each word is among the texts: ln(1 + n / times seen). */
export function inverseFrequencies(texts: readonly ReadonlySet<string>[]): (word: string) => number {
  const seen = new Map<string, number>();
  for (const words of texts) for (const word of words) seen.set(word, (seen.get(word) ?? 0) + 1);
  return (word) => Math.log(1 + texts.length / (seen.get(word) ?? 1));
}
