import { plain } from './plain-question.ts';
import { isOwn, PICKS, sentence, UNCERTAIN, wordsOf } from './sentence.ts';

/** Words in which people speak of a problem that is there or not, whatever it is. */
const states =
  /^(down|up|blocked|blocking|waiting|waits?|stuck|hanging|hangs?|slow|full|red|green|failing|broken|healthy|locked|there|happening|running|dead|alive|bad|ill|reachable|back|over|gone|fixed|left|free|used)$/;

/** Whether a word says how something is. */
export const isState = (word: string): boolean => states.test(word);

/**
 * Whether a question asks how the symptom is at this moment, which only a look can tell: “how many are blocked now?”, “is it
 * still down?”. Every word of it has to be understood, and one at least has to speak of the symptom.
 *
 * @param symptom words of what the incident is about and of what would be read, lower-case
 */
export function asksForNow(text: string, symptom: ReadonlySet<string>): boolean {
  const said = plain(text);
  if (UNCERTAIN.test(said) || PICKS.test(said)) return false;
  const words = wordsOf(text);
  const speaks = (word: string): boolean => isState(word) || isOwn(word, symptom);
  const isPlain = (word: string): boolean =>
    sentence.has(word) || ['current', 'currently', 'moment', 'still'].includes(word);
  const isPresent =
    /^(is|are|does|do|has|have)$/.test(words[0] ?? '') ||
    words.some((word) => ['now', 'still', 'currently', 'current', 'moment'].includes(word)) ||
    (words[0] === 'how' && ['many', 'much', 'long', 'full'].includes(words[1] ?? ''));
  const isPast = words.some((word) => /^(was|were|did|had|when|why|who)$/.test(word));
  return isPresent && !isPast && words.some(speaks) && words.every((word) => speaks(word) || isPlain(word));
}
