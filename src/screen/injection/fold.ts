/** A text in another form, with the way back: `at(i)` is where the character at `i` came from. */
export interface View {
  readonly text: string;
  readonly at: (index: number) => number;
  /** The form differs from what a person reads, so what is found only in it was hidden. */
  readonly disguised: boolean;
}

const invisible =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]/;

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
  let at = 0;
  for (const word of text.split(/(\s+)/)) {
    const mixed = mixedWord.test(word);
    for (const char of word) {
      const shown = mixed ? (lookalikes.get(char) ?? plainOf(char)) : plainOf(char);
      if (
        shown !== char &&
        (invisible.test(char) || lookalikes.has(char) || (char.codePointAt(0) as number) > 0x2000)
      )
        disguised = true;
      for (let i = 0; i < shown.length; i++) from.push(at);
      out += shown;
      at += char.length;
    }
  }
  return { text: out, at: (index) => from[index] ?? text.length, disguised };
}

function plainOf(char: string): string {
  const code = char.codePointAt(0) as number;
  if (code < 128) return char;
  // Tag characters spell ASCII that nobody sees.
  if (code >= 0xe0020 && code <= 0xe007e) return String.fromCodePoint(code - 0xe0000);
  if (invisible.test(char) || code === 0xe0001 || code === 0xe007f) return '';
  if (code === 0x2018 || code === 0x2019) return "'";
  const parts = char.normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  return /^[\0-\x7f]+$/.test(parts) ? parts : char;
}
