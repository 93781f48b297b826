import { type Refusal, refuse } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';

/**
 * Layer 10 of the seed: what reaches a tool says what it seems to say. Nothing is stripped: a text that was changed on the
 * way is another text than the one that was checked, shown and approved. In three steps: `plainJson` takes a copy that
 * JSON can carry, `inputProblem` refuses what hides or is out of measure, and where a text names something (a service, a
 * file, a command, an address) `shellCharacter` refuses the seed's list. What is data (a search pattern, a diff) may hold
 * those: it is never given to a shell.
 */

const MAX_TEXT = 10_000;
const MAX_DEPTH = 8;

/**
 * Control characters but tab and newline (so also every ANSI escape sequence, which begins with one); everything that is
 * not drawn or turns the reading direction (Unicode's format characters and default ignorables: bidi, zero width, soft
 * hyphen, tags, fillers); separators that end a line elsewhere; halves of surrogate pairs. The mark that colours an emoji
 * hides nothing.
 */
const HIDDEN =
  /(?!\t|\n|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?<!\p{Extended_Pictographic})\ufe0f/u;

/** Why an input is refused: it hides something, or is out of measure; undefined when it is clean. */
export function inputProblem(value: Json, where = 'input', depth = 0): Refusal | undefined {
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
    const problem =
      inputProblem(key, where, depth + 1) ?? inputProblem(item as Json, `${where}.${key}`, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** What a shell would act on: the seed's `;`, `|`, back quote, `$()`, `&&`, `||`, and the rest of that kind. */
const SHELL = /&&|\|\||\$\(|\$\{|[;|`&<>\n]/u;

/** The first thing in a name that a shell would act on; undefined when there is none. */
export function shellCharacter(text: string): string | undefined {
  return SHELL.exec(text)?.[0];
}
