import { asksForChanges } from './changes-asked.ts';
import { plain } from './plain-question.ts';
import { readQuestion } from './read-question.ts';
import { wordsOf } from './sentence.ts';
import type { Subject } from './subjects.ts';
import { wholeQuestion } from './whole-questions.ts';

/** A bare word for one of these asks for it; “approve it” or “it is fixed” says something. */
const alone: ReadonlySet<Subject> = new Set([
  'severity',
  'blast',
  'impact',
  'ruledOut',
  'cost',
  'evidence',
  'expiry',
]);

/** Whether a text without a question mark asks all the same: “blast radius”, “any other causes”, “still going on”. */
export function asksInShort(text: string): boolean {
  if (wholeQuestion(plain(text)) !== null) return true;
  if (/^\W*(?:any|changes)\b/i.test(text) && asksForChanges(text) !== null) return true;
  if (wordsOf(text).length > 3) return false;
  const subjects = readQuestion(text, new Set())?.subjects ?? [];
  return subjects.length > 0 && subjects.every((subject) => alone.has(subject));
}
