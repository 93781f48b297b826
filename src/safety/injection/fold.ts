import type { Span } from '../secrets/rule.ts';

/** A text in another form, with the way back: `at(i)` is where the character at `i` came from. */
export interface View {
  readonly text: string;
  readonly at: (index: number) => number;
  /** The form differs from what a person reads, so what is found only in it was hidden. */
  readonly disguised: boolean;
}

// Soft hyphen, joiners, fillers, direction marks, variation selectors, byte order mark: first and last of each range.
const invisibleRanges = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xe0001, 0xe0001],
  [0xe007f, 0xe007f],
] as const;

function isInvisible(code: number): boolean {
  return invisibleRanges.some(([first, last]) => code >= first && code <= last);
}

// Letters of other scripts that look like Latin ones (Unicode TR 39, confusables), by what they look like.
const lookalikes = new Map<string, string>();
for (const [latin, others] of Object.entries({
  a: 'аαɑ',
  b: 'Ьв',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еεёҽ',
  g: 'ɡ',
  h: 'һ',
  i: 'іιıї',
  j: 'јϳ',
  k: 'кκ',
  l: 'ӏⅼ',
  m: 'м',
  n: 'пո',
  o: 'оοσօ',
  p: 'рρ',
  q: 'ԛ',
  r: 'гг',
  s: 'ѕ',
  t: 'тτ',
  u: 'υս',
  v: 'νѵ',
  w: 'ԝω',
  x: 'хχ',
  y: 'уγү',
  z: 'ᴢ',
  A: 'АΑ',
  B: 'ВΒ',
  C: 'С',
  E: 'ЕΕ',
  H: 'НΗ',
  I: 'ІΙ',
  J: 'Ј',
  K: 'КΚ',
  M: 'МΜ',
  N: 'Ν',
  O: 'ОΟ',
  P: 'РΡ',
  S: 'Ѕ',
  T: 'ТΤ',
  X: 'ХΧ',
  Y: 'УΥ',
  Z: 'Ζ',
}))
  for (const other of others) lookalikes.set(other, latin);

const mixedWord = /[A-Za-z]/;
const plainAscii = /^[\0-\x7f]*$/;

/** Without accents, invisible characters, styled letters (NFKD) and lookalikes in words that are otherwise Latin. */
export function fold(text: string): View {
  if (plainAscii.test(text)) return { text, at: (index) => index, disguised: false };
  let out = '';
  const from: number[] = [];
  let disguised = false;
  let wasTag = false;
  const plainly = (start: number, end: number): void => {
    if (start === end) return;
    out += text.slice(start, end);
    for (let at = start; at < end; at++) from.push(at);
    wasTag = false;
  };
  let at = 0;
  for (const { start, end } of foreignWords(text)) {
    plainly(at, start);
    at = start;
    const word = text.slice(start, end);
    const mixed = mixedWord.test(word);
    for (const char of word) {
      const shown = mixed ? (lookalikes.get(char) ?? plainOf(char)) : plainOf(char);
      if (
        shown !== char &&
        (isInvisible(char.codePointAt(0) as number) ||
          lookalikes.has(char) ||
          (char.codePointAt(0) as number) > 0x2000)
      )
        disguised = true;
      // Letters nobody sees begin a word of their own.
      const tag = isTag(char);
      const apart = tag && !wasTag ? ` ${shown}` : shown;
      wasTag = tag;
      for (let i = 0; i < apart.length; i++) from.push(at);
      out += apart;
      at += char.length;
    }
  }
  plainly(at, text.length);
  return { text: out, at: (index) => from[index] ?? text.length, disguised };
}

/** Words with a character beyond ASCII, and such blanks: the rest is as it looks. */
function foreignWords(text: string): readonly Span[] {
  const words: Span[] = [];
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < 128) continue;
    let start = at;
    let end = at + 1;
    if (!isBlank(text, at)) {
      while (start > done && !isBlank(text, start - 1)) start--;
      while (end < text.length && !isBlank(text, end)) end++;
    }
    words.push({ start, end });
    done = end;
    at = end - 1;
  }
  return words;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 ? code === 32 || (code >= 9 && code <= 13) : blank.test(text[at] as string);
}

const blank = /\s/;

/** Unicode tags: ASCII once more, drawn by nothing. */
function isTag(char: string): boolean {
  const code = char.codePointAt(0) as number;
  return code >= 0xe0020 && code <= 0xe007e;
}

const plainForms = new Map<string, string>();

function plainOf(char: string): string {
  let plain = plainForms.get(char);
  if (plain === undefined) {
    if (plainForms.size >= 4_096) plainForms.clear();
    plain = toPlain(char);
    plainForms.set(char, plain);
  }
  return plain;
}

function toPlain(char: string): string {
  const code = char.codePointAt(0) as number;
  if (code < 128) return char;
  // Tag characters spell ASCII that nobody sees.
  if (isTag(char)) return String.fromCodePoint(code - 0xe0000);
  if (isInvisible(code)) return '';
  if (code === 0x2018 || code === 0x2019) return "'";
  const parts = char.normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  return /^[\0-\x7f]+$/.test(parts) ? parts : char;
}
