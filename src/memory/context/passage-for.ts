import { proseOf } from '../../runbooks/prose.ts';
import { bestPassage, type Passage } from '../../search/best-passage.ts';
import type { SearchHit } from '../../search/types.ts';

/** Characters of prose that are shown whole; of a longer text, the section that fits best. */
const WHOLE = 2_000;

/** What a model reads of a text that was found: its prose, or the section of it that fits best. */
export function passageFor(hit: SearchHit, markdown: string): Passage {
  const prose = proseOf(markdown, hit.title);
  if (prose.length <= WHOLE) return { heading: '', text: prose };
  const best = bestPassage({ ...hit, text: prose });
  return best.text === '' ? { heading: '', text: prose.slice(0, WHOLE) } : best;
}
