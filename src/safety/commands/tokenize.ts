import { type RefusedCommand, refuseCommand } from './decision.ts';

/** One word of a command; a quoted one was written in quotes as a whole, or after `--flag=`. */
export interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

const MAX_LENGTH = 1000;
const MAX_WORDS = 40;
const plainWords =
  'One command in plain ASCII words; quotes around a whole argument, no pipes, substitutions or redirections.';

/** What a shell would act on outside quotes. `?` and `=` only matter to grammars, which know where they belong. */
const metacharacter = /[;&|<>(){}[\]$`\\!*^#]/u;
/** What a shell would act on inside double quotes. `\n` stays two characters there, so it is let through. */
const insideDouble = /[$`!]|\\[$`"\\]/u;
/** Percent escapes (also doubled) of a control, a quote, a metacharacter or a percent sign. */
const encoded = /%(?:25)*(?:[01][0-9a-f]|7f|2[1-8]|2a|3[bce]|5[b-e]|60|7[b-e]|[89a-f][0-9a-f])/iu;

/** Splits a command into words as a shell would, and refuses whatever a shell would do more than that. */
export function tokenize(text: string): readonly Word[] | RefusedCommand {
  if (text.length > MAX_LENGTH)
    return refuseCommand('too-long', `The command has more than ${MAX_LENGTH} characters.`, plainWords);
  if (/[^ -~]/u.test(text))
    return refuseCommand('encoding', 'A newline, a tab, a control or a non-ASCII character.', plainWords);
  if (encoded.test(text))
    return refuseCommand('encoding', 'A percent escape hides a character that is not allowed.', plainWords);
  const words: Word[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const taken = takeWord(rest);
    if ('allowed' in taken) return taken;
    words.push(taken.word);
    rest = rest.slice(taken.length).trimStart();
    if (words.length > MAX_WORDS)
      return refuseCommand('too-long', `The command has more than ${MAX_WORDS} words.`, plainWords);
  }
  if (words.length === 0) return refuseCommand('empty', 'The command is empty.', plainWords);
  return words;
}

function takeWord(rest: string): { readonly word: Word; readonly length: number } | RefusedCommand {
  const bare = /^[^ '"]*/u.exec(rest)?.[0] ?? '';
  const meta = metacharacter.exec(bare);
  if (meta)
    return refuseCommand(
      'metacharacter',
      `"${meta[0]}" outside quotes is for a shell; there is none.`,
      plainWords,
    );
  if (bare.startsWith('~'))
    return refuseCommand('expansion', '"~" is expanded by a shell; there is none.', plainWords);
  const quote = rest[bare.length];
  if (quote !== "'" && quote !== '"') return { word: { text: bare, quoted: false }, length: bare.length };
  return takeQuoted(rest, bare, quote);
}

function takeQuoted(
  rest: string,
  bare: string,
  quote: string,
): { readonly word: Word; readonly length: number } | RefusedCommand {
  if (bare !== '' && !/^--[a-z-]+=$/u.test(bare))
    return refuseCommand('quoting', 'Quotes in the middle of a word.', plainWords);
  const end = rest.indexOf(quote, bare.length + 1);
  if (end === -1) return refuseCommand('quoting', 'A quote is not closed.', plainWords);
  const content = rest.slice(bare.length + 1, end);
  if (content === '') return refuseCommand('quoting', 'An empty pair of quotes.', plainWords);
  if (quote === '"' && insideDouble.test(content))
    return refuseCommand('expansion', 'A substitution or escape inside double quotes.', plainWords);
  if (end + 1 < rest.length && rest[end + 1] !== ' ')
    return refuseCommand('quoting', 'Text directly after a closing quote.', plainWords);
  return { word: { text: bare + content, quoted: true }, length: end + 1 };
}
