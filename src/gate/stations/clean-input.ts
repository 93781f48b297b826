import { refuse } from '../../domain/errors.ts';
import type { Json } from '../../domain/tool-call.ts';
import type { Station } from '../station.ts';

const MAX_TEXT = 10_000;
const MAX_DEPTH = 8;
/**
 * Control characters but tab and newline; everything that is not drawn or turns the reading direction (Unicode's format
 * characters and default ignorables: bidi, zero width, soft hyphen, tags, fillers); separators that end a line elsewhere;
 * halves of surrogate pairs. The mark that colours an emoji hides nothing.
 */
const HIDDEN =
  /(?!\t|\n|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?<!\p{Extended_Pictographic})\ufe0f/u;

/** Station 6: nothing in the input hides what it says, and none of it is out of measure. */
export const cleanInput: Station = ({ input }) => problemIn(input ?? null, 'input', 0);

function problemIn(value: Json, where: string, depth: number): ReturnType<typeof refuse> | undefined {
  if (depth > MAX_DEPTH) return refuse('INPUT_TOO_DEEP', `${where}: nested more than ${MAX_DEPTH} deep.`);
  if (typeof value === 'string') {
    if (value.length > MAX_TEXT)
      return refuse('INPUT_TOO_LONG', `${where}: longer than ${MAX_TEXT} characters.`);
    if (HIDDEN.test(value))
      return refuse('INPUT_HIDDEN_CHARACTERS', `${where}: has control or invisible characters.`);
    return undefined;
  }
  if (value === null || typeof value !== 'object') return undefined;
  for (const [key, item] of Object.entries(value)) {
    const problem = problemIn(key, where, depth + 1) ?? problemIn(item as Json, `${where}.${key}`, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}
