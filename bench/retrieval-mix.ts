import { sectionsOf } from '../src/search/meaning/chunks.ts';
import type { BenchDocument } from './retrieval-data.ts';

/**
 * New documents from parts of the corpus: each has the words of two titles and sections of four documents, so that the
 * frequencies of words stay those of runbooks however many there are. The same `first` gives the same documents.
 */
export function mixDocuments(
  corpus: readonly BenchDocument[],
  count: number,
  first: number,
): readonly { readonly id: string; readonly title: string; readonly text: string }[] {
  const random = seededRandom(first + 1);
  const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)];
  return Array.from({ length: count }, (_, i) => {
    const sources = Array.from({ length: 4 }, () => pick(corpus));
    const text = sources
      .map((source) => pick(sectionsOf(source?.text ?? '')))
      .map((section) => `## ${section?.trail.at(-1) ?? 'Notes'}\n\n${(section?.body ?? '').slice(0, 800)}`)
      .join('\n\n');
    const title = `${sources[0]?.title ?? ''} ${sources[1]?.title ?? ''}`.slice(0, 60);
    return { id: `mixed-${first + i}`, title, text };
  });
}

/** 0–1, the same for the same seed (Park and Miller). */
export function seededRandom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
