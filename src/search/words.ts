/** Words that say nothing about which problem it is. */
const stopWords = new Set(
  'the and for are was were with from that this has have not but its into out over than then when while been being will would can could should may might did does had our their them they you your all any per via due new one two error alert alerts failed failure failing problem issue incident critical warning info high low database db postgres postgresql'.split(
    ' ',
  ),
);

/**
 * The telling words of a text: lower-case, identifiers taken apart (`PostgresBlockedSessions`, `idle_in_transaction`),
 * without numbers, stop words and words shorter than three letters.
 */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length >= 3 && !/^\d/.test(word) && !stopWords.has(word));
  return new Set(words);
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
