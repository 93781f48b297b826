import type { QueryTerm } from './weigh-query.ts';

/** How telling a term is: BM25's idf, ln(1 + (entries - with + 0.5) / (with + 0.5)). */
export function inverseFrequency(entries: number, entriesWithIt: number): number {
  const having = Math.min(entries, entriesWithIt);
  return Math.log(1 + (entries - having + 0.5) / (having + 0.5));
}

/**
 * The query's terms with weight × rarity, heaviest first; those that no entry has are left out. Pairs are posted only
 * where they stand in a title, or are one word: a pair is taken as somewhat rarer than the rarer of its words (e times).
 */
export function telling(
  terms: readonly QueryTerm[],
  entries: number,
  entriesWith: (hash: number) => number,
): readonly (QueryTerm & { readonly mass: number })[] {
  const rarest = inverseFrequency(entries, 1);
  const rarityOf = ({ hash, of }: QueryTerm): number => {
    const having = entriesWith(hash);
    const counted = having > 0 ? inverseFrequency(entries, having) : 0;
    const [first, second] = of?.map(entriesWith) ?? [];
    if (!first || !second) return counted;
    const guessed = inverseFrequency(entries, Math.min(first, second)) + 1;
    return Math.min(guessed, counted || rarest);
  };
  return terms
    .map((term) => ({ ...term, mass: term.weight * rarityOf(term) }))
    .filter(({ mass }) => mass > 0)
    .sort((a, b) => b.mass - a.mass);
}
