import { distinctiveWords, inverseFrequencies } from '../../search/text/distinctive-words.ts';
import type { MemoryDocument } from './document.ts';

/** A word in the title says more than one in the text. */
const TITLE_WEIGHT = 2;

/** Those with a word in common, the rarer and the more words the better; trusted and newer ones first among equals. */
export function searchByWords(
  documents: readonly MemoryDocument[],
  text: string,
  limit: number,
): readonly MemoryDocument[] {
  const asked = distinctiveWords(text);
  const words = documents.map((document) => ({
    title: distinctiveWords(
      `${document.title} ${document.path} ${Object.values(document.entities).flat().join(' ')}`,
    ),
    body: distinctiveWords(document.content),
  }));
  const weight = inverseFrequencies(words.map(({ title, body }) => new Set([...title, ...body])));
  return documents
    .map((document, i) => ({ document, score: scoreOf(words[i]) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ document }) => document);

  function scoreOf(one: { title: ReadonlySet<string>; body: ReadonlySet<string> } | undefined): number {
    let score = 0;
    for (const word of asked) {
      if (one?.title.has(word)) score += TITLE_WEIGHT * weight(word);
      else if (one?.body.has(word)) score += weight(word);
    }
    return score;
  }
}
