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
 * Control characters but tab, newline and the return before one (so also every ANSI escape sequence, which begins with one);
 * everything that is not drawn or turns the reading direction (Unicode's format characters and default ignorables: bidi, zero width,
 * soft hyphen, tags, fillers); separators that end a line elsewhere; halves of surrogate pairs. Not the joiners where they are part
 * of writing (between letters of scripts that join, and within an emoji), nor the mark that colours an emoji.
 */
const HIDDEN =
  /(?!\t|\n|\r(?=\n)|[\ufe0f\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?<!\p{Extended_Pictographic})\ufe0f/u;
const JOINING =
  '[\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Guru}\\p{sc=Gujr}\\p{sc=Orya}\\p{sc=Taml}\\p{sc=Telu}\\p{sc=Knda}\\p{sc=Mlym}\\p{sc=Sinh}\\p{sc=Khmr}]';
const STRAY_JOINER = new RegExp(
  `(?<!${JOINING})[\\u200c\\u200d](?!\\p{Extended_Pictographic})|(?<!${JOINING}|[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d|[\\u200c\\u200d]{2}|\\u200c(?!${JOINING})|(?<=${JOINING})\\u200d(?!${JOINING}|$|[\\s\\p{P}])`,
  'u',
);

/** Why an input is refused: it hides something, or is out of measure; undefined when it is clean. */
export function inputProblem(value: Json, where = 'input', depth = 0): Refusal | undefined {
  if (depth > MAX_DEPTH) return refuse('INPUT_TOO_DEEP', `${where}: nested more than ${MAX_DEPTH} deep.`);
  if (typeof value === 'string') {
    if (value.length > MAX_TEXT)
      return refuse('INPUT_TOO_LONG', `${where}: longer than ${MAX_TEXT} characters.`);
    if (HIDDEN.test(value) || STRAY_JOINER.test(value))
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

/** What a shell would act on: the seed's `;`, `|`, back quote, `$()`, `&&`, `||`, and the rest of that kind; and what a name hides. */
const SHELL = /&&|\|\||\$\(|\$\{|[;|`&<>\r\n\u200c\u200d]/u;

/** The first thing in a name that a shell would act on; undefined when there is none. */
export function shellCharacter(text: string): string | undefined {
  return SHELL.exec(text)?.[0];
}
