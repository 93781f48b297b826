import { bestPassage, type Passage } from '../retrieval/best-passage.ts';
import type { SearchHit } from '../retrieval/types.ts';
import { splitMarkdown } from '../runbooks/markdown.ts';

/** Characters of prose that are shown whole; of a longer text, the section that fits best. */
const WHOLE = 2_000;

/** What a model reads of a text that was found: its prose. Steps for the playbook are for the playbook. */
export function passageFor(hit: SearchHit, markdown: string): Passage {
  const sections = splitMarkdown(markdown.trimStart()).sections;
  const prose = sections
    .map(({ trail, text }) => {
      const heading = trail.at(-1);
      return heading === undefined || heading === hit.title ? text : `## ${heading}\n${text}`;
    })
    .join('\n\n');
  if (prose.length <= WHOLE) return { heading: '', text: prose };
  const best = bestPassage({ ...hit, text: prose });
  return best.text === '' ? { heading: '', text: prose.slice(0, WHOLE) } : best;
}
