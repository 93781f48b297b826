import { sectionsOf } from './meaning/chunks.ts';
import { termsOf } from './text/terms.ts';
import type { SearchHit } from './types.ts';

/** A section of a hit's text with the headings above it. */
export interface Passage {
  /** Joined by ` › `; empty above the first heading. */
  readonly heading: string;
  readonly text: string;
}

/** The section that has most of what the hit was found by; the first one when none has. The hit must carry its text. */
export function bestPassage({ title, text, shares }: SearchHit): Passage {
  const share = new Map(shares.terms.map((one) => [one.term, one.share]));
  let best: { passage: Passage; score: number } | undefined;
  for (const { trail, body } of sectionsOf(text)) {
    const headings = trail.filter((heading) => heading !== title);
    const terms = new Set(termsOf([...headings, body].join('\n')).map((term) => term.text));
    const score = [...terms].reduce((sum, term) => sum + (share.get(term) ?? 0), 0);
    if (!best || score > best.score) best = { passage: { heading: headings.join(' › '), text: body }, score };
  }
  return best?.passage ?? { heading: '', text };
}
