import { termHash } from '../index/term-hash.ts';
import { type Term, termsOf } from '../text/terms.ts';
import { withoutPlaceholders } from '../text/without-placeholders.ts';

/** A term of the query. `of`: the hashes of a pair's two words, from whose rarity its own is guessed. */
export interface QueryTerm {
  readonly term: string;
  readonly hash: number;
  readonly kind: Term['kind'];
  readonly weight: number;
  readonly of: readonly [number, number] | null;
}

/** Longer texts are logs: what they are about stands at their beginning, or is said again. */
const CHARACTERS = 2_000;
const WEIGHTS: Readonly<Record<Term['kind'], number>> = { word: 1, whole: 1, concept: 0.5, pair: 0.4 };
/** Each further mention counts half; after the third a text only repeats itself. */
const AGAIN = 0.5;
const MENTIONS = 3;

/** The terms of a query, each once. Placeholders (`<instance>`, `{{ $labels.pod }}`) are where values stood: left out. */
export function weighQuery(text: string): readonly QueryTerm[] {
  const told = withoutPlaceholders(text.slice(0, CHARACTERS));
  const weighed = new Map<
    string,
    { weight: number; mentions: number; readonly kind: Term['kind']; readonly of: QueryTerm['of'] }
  >();
  for (const term of termsOf(told)) {
    const weight = WEIGHTS[term.kind];
    const known = weighed.get(term.text);
    if (!known) {
      const of = term.kind === 'pair' ? ([termHash(term.of[0]), termHash(term.of[1])] as const) : null;
      weighed.set(term.text, { weight, mentions: 1, kind: term.kind, of });
    } else if (known.mentions < MENTIONS) {
      known.weight = Math.max(known.weight, weight) + AGAIN * Math.min(known.weight, weight);
      known.mentions += 1;
    }
  }
  return [...weighed].map(([term, { kind, weight, of }]) => ({
    term,
    hash: termHash(term),
    kind,
    weight,
    of,
  }));
}
