import type { IndexedEntry, SpaceIndex } from '../index/space-indexes.ts';

/** Terms of the query times entries: some 3 ms, for which nothing else runs. More found nothing better (bench/README.md). */
const LOOKUPS = 25_000;

/**
 * The entries worth scoring: those with a term of the query, the rarest terms first, until the budget is spent. Among some
 * hundred entries these are all that have one.
 */
export function findCandidates(
  terms: readonly { readonly hash: number }[],
  spaces: readonly SpaceIndex[],
  lookups = LOOKUPS,
): ReadonlySet<IndexedEntry> {
  const most = lookups / terms.length;
  const lists = terms
    .flatMap(({ hash }) => spaces.map((space) => space.having(hash)))
    .sort((a, b) => a.length - b.length);
  const found = new Set<IndexedEntry>();
  for (const list of lists) {
    if (found.size > 0 && found.size + list.length > most) break;
    for (const entry of list) found.add(entry);
  }
  return found;
}
