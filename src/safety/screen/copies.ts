import { looksLikePassword } from '../secrets/randomness.ts';

/** What stands for a value wherever it, or another spelling of it, stands. */
interface Spelling {
  readonly text: string;
  readonly name: string;
  /** It is a part of encoded text: what goes on around it in the same alphabet belongs to it. */
  readonly encoded: boolean;
}

/** Of a spelling: what one is found by. */
const KEY = 6;
const placeholder = /(\[redacted:[\w.#-]{1,80}\])/;
// Base64 of ASCII text has no `/` but for a question mark, and addresses are full of them.
const inBase64 = /[A-Za-z0-9+]/;
const inBase64OrPadding = /[A-Za-z0-9+=]/;
const inWord = /[\p{L}\p{N}_]/u;

/**
 * Replaces every copy of the values by their names: as they stand, percent-encoded, escaped for JSON, and inside Base64, where
 * `user:password` is written so. A rule finds a secret by what stands beside it; its copies stand elsewhere. One pass, whatever
 * the number of values; placeholders stay.
 */
export function hideCopies(text: string, values: ReadonlyMap<string, string>): string {
  const spellings = new Map<string, Spelling>();
  for (const [value, name] of values)
    for (const one of spellingsOf(value, name)) if (!spellings.has(one.text)) spellings.set(one.text, one);
  if (spellings.size === 0) return text;
  const find = finderOf(spellings);
  return text
    .split(placeholder)
    .map((part, at) => (at % 2 === 1 ? part : hideIn(part, find)))
    .join('');
}

type Find = (text: string, at: number) => Spelling | undefined;

/** Asks for the first characters, then for each length that goes on from them, the longest first: it hides more. */
function finderOf(spellings: ReadonlyMap<string, Spelling>): Find {
  const lengths = new Map<string, number[]>();
  for (const text of [...spellings.keys()].sort((a, b) => b.length - a.length)) {
    const some = lengths.get(text.slice(0, KEY));
    if (some === undefined) lengths.set(text.slice(0, KEY), [text.length]);
    else if (some.at(-1) !== text.length) some.push(text.length);
  }
  return (text, at) => {
    for (const length of lengths.get(text.slice(at, at + KEY)) ?? []) {
      const found = spellings.get(text.slice(at, at + length));
      if (found !== undefined && standsAlone(text, at, length)) return found;
    }
    return undefined;
  };
}

function hideIn(text: string, find: Find): string {
  let out = '';
  let from = 0;
  for (let at = 0; at + KEY <= text.length; at++) {
    const found = find(text, at);
    if (found === undefined) continue;
    const [start, end] = placeOf(text, at, found, from);
    out += text.slice(from, start) + found.name;
    from = end;
    at = end - 1;
  }
  return out + text.slice(from);
}

/** A colour, a line's end or a sign as escapes write them: their last letter is no part of a word. */
const signBefore = new RegExp(
  String.raw`(?:(?:\u001b|\\u001b|\\x1b|\\033|\\e)\[[\d;]{0,12}m|\\[nrt]|%[\da-f]{2})$`,
  'i',
);

/** A short value inside a longer word is another word. */
function standsAlone(text: string, at: number, length: number): boolean {
  if (length >= 10) return true;
  if (inWord.test(text[at + length] ?? ' ')) return false;
  return !inWord.test(text[at - 1] ?? ' ') || signBefore.test(text.slice(Math.max(0, at - 24), at));
}

function placeOf(text: string, at: number, { text: found, encoded }: Spelling, from: number) {
  let start = at;
  let end = at + found.length;
  if (encoded) {
    while (start > from && inBase64.test(text[start - 1] as string)) start--;
    while (end < text.length && inBase64OrPadding.test(text[end] as string)) end++;
  }
  return [start, end] as const;
}

/** Between a name and a value, a user and a password, the lines of a key. */
const joints = /\\[nrt]|%3[ad]|[\s"'=:;,&@.\\]+/i;

/** A rule may find more than the secret; what of it is one by itself counts, too. */
function spellingsOf(value: string, name: string): readonly Spelling[] {
  if (!isDistinctive(value)) return [];
  const parts = value.split(joints).filter((part) => part.length >= 8 && looksLikePassword(part));
  return [value, ...parts].flatMap((one) => spell(one, name)).filter(({ text }) => text.length >= KEY);
}

function spell(value: string, name: string): readonly Spelling[] {
  const decoded = orSame(decodeURIComponent, value);
  const plain = [value, decoded, orSame(encodeURIComponent, value), JSON.stringify(value).slice(1, -1)];
  return [
    ...[...new Set(plain)].map((text) => ({ text, name, encoded: false })),
    ...[...new Set([value, decoded])].flatMap(insideBase64).map((text) => ({ text, name, encoded: true })),
  ];
}

/** What cannot be spelt so (half a surrogate pair, a stray `%`) has no such copy. */
function orSame(spell: (value: string) => string, value: string): string {
  try {
    return spell(value);
  } catch {
    return value;
  }
}

/** Nobody writes a longer one again by hand, and keys are found by their own rule. */
const MAX_ENCODED = 400;

/** What of the value is the same in Base64 wherever it begins in the encoded text, for each of the three ways that bytes align. */
function insideBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  if (bytes.length > MAX_ENCODED) return [];
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const whole = Math.floor(((shift + bytes.length) * 8) / 6);
    const inner = encoded.slice(shift === 0 ? 0 : shift + 1, whole);
    if (inner.length < KEY + 1) return [];
    return /[+/]/.test(inner) ? [inner, inner.replaceAll('+', '-').replaceAll('/', '_')] : [inner];
  });
}

/**
 * Whether a value, met again, is the secret again. A word like `postgres` may be a password, and is a name everywhere else:
 * readers need names.
 */
function isDistinctive(value: string): boolean {
  if (value.length < KEY || value.includes('[redacted:')) return false;
  if (/^\d+$/.test(value)) return value.length >= 8;
  if (value.length >= 12 && !/^[a-z]+$/i.test(value)) return true;
  return /\d/.test(value) || /[^\w.:/@-]/.test(value) || /[a-z].*[A-Z]/.test(value);
}
