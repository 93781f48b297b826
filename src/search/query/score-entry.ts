import type { ForwardIndex } from '../index/forward-index.ts';
import type { Shares } from '../types.ts';
import type { QueryTerm } from './weigh-query.ts';

/**
 * The three parts of a score, each 0–1, and what they may give. Chosen on random halves of the development queries and
 * checked on the other halves (bench/README.md, "Retrieval"); their sum is the text relevance, 0–1.
 */
export const PARTS = { body: 0.3, title: 0.6, meaning: 0.1 } as const;

/**
 * @param terms with their mass (weight × rarity), what no entry has left out
 * @param titleRarity how telling a word of a title is, also one the query does not have
 * @param nearness cosine similarity of the nearest chunk, 0–1; null when meaning does not take part
 * @param parts other weights, for measuring what each does
 */
export function scoreEntry(
  entry: ForwardIndex,
  terms: readonly (QueryTerm & { readonly mass: number })[],
  titleRarity: (hash: number) => number,
  nearness: number | null,
  parts: Readonly<Record<keyof typeof PARTS, number>> = PARTS,
): Shares & { readonly score: number } {
  const whole = terms.reduce((sum, { mass }) => sum + mass, 0) || 1;
  const counted: { term: string; body: number; title: number }[] = [];
  let covered = 0;
  for (const { term, hash, kind, mass, weight } of terms) {
    const found = entry.find(hash);
    if (!found) continue;
    counted.push({ term, body: (mass * found.weight) / whole, title: found.inTitle ? mass / whole : 0 });
    // `daemonset` covers the two words of `KubeDaemonSet…`, a whole identifier all of its own.
    const compound = found.inTitle && (kind === 'word' || kind === 'whole');
    if (found.isTitleWord || compound) covered += mass / weight;
  }
  const title = counted.some((one) => one.title > 0)
    ? covered / Math.max(covered, sum(entry.titleWords.map(titleRarity)), Number.EPSILON)
    : 0;
  const terming = counted
    .map((one) => ({ term: one.term, share: parts.body * one.body + parts.title * title * one.title }))
    .sort((a, b) => b.share - a.share);
  const shares = {
    body: parts.body * sum(counted.map((one) => one.body)),
    title: parts.title * title * sum(counted.map((one) => one.title)),
    meaning: parts.meaning * (nearness ?? 0),
  };
  return { score: shares.body + shares.title + shares.meaning, ...shares, terms: terming };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
