import type { Span } from '../secrets/rule.ts';
import { codeRuns, hasSpacedCode, isBase32, isCodeOfText } from './code-runs.ts';

/** A piece of text that is code for other text. */
export interface Decoded extends Span {
  readonly text: string;
}

const MAX_PIECE = 65_536;
const printable = /^[\t\n\r\x20-\x7e\u00a0-\uffff]*$/;

/** Everything in the text that decodes to readable text: Base64, hexadecimal, percent and backslash escapes, entities. */
export function decodePieces(text: string): readonly Decoded[] {
  const pieces: Decoded[] = [];
  for (const run of codeRuns(text)) {
    const span = { start: run.start, end: Math.min(run.end, run.start + MAX_PIECE) };
    const hex = isCodeOfText(text, span, 'hex');
    const base64 = isCodeOfText(text, span, 'base64');
    const base32 = isBase32(text, span);
    if (!hex && !base64 && !base32) continue;
    const piece = text.slice(span.start, span.end);
    if (hex && /^(?:[0-9a-fA-F]{2})+$/.test(piece))
      add(pieces, run, Buffer.from(piece, 'hex').toString('utf8'));
    if (base64) add(pieces, run, Buffer.from(piece, 'base64').toString('utf8'));
    if (base32) add(pieces, run, fromBase32(piece));
  }
  if (!hasSpacedCode(text)) return pieces;
  for (const match of text.matchAll(/(?:[0-9a-fA-F]{2}[ :]){11,}[0-9a-fA-F]{2}/g))
    add(
      pieces,
      { start: match.index, end: match.index + match[0].length },
      Buffer.from(match[0].replace(/[ :]/g, '').slice(0, MAX_PIECE), 'hex').toString('utf8'),
    );
  for (const match of text.matchAll(/[01]{8}(?: ?[01]{8}){11,}/g))
    add(pieces, { start: match.index, end: match.index + match[0].length }, fromBits(match[0]));
  return pieces;
}

/** RFC 4648, section 6. */
function fromBase32(code: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = Array.from(code.replace(/=+$/, ''), (char) =>
    alphabet.indexOf(char).toString(2).padStart(5, '0'),
  ).join('');
  return fromBits(bits.slice(0, bits.length - (bits.length % 8)));
}

function fromBits(bits: string): string {
  return (bits.replaceAll(' ', '').slice(0, MAX_PIECE).match(/.{8}/g) ?? [])
    .map((byte) => String.fromCharCode(Number.parseInt(byte, 2)))
    .join('');
}

function add(pieces: Decoded[], span: Span, text: string): void {
  if (text.length >= 10 && printable.test(text) && (/[ \n\t]/.test(text) || /^[\w+/-]{24,}=*$/.test(text)))
    pieces.push({ ...span, text });
}

/** The whole text with its escapes undone; null when it has none. */
export function unescaped(text: string): string | null {
  if (!/%[0-9a-f]{2}|&#|\\[ux]/i.test(text)) return null;
  const plain = text
    .replace(/(?:%[0-9a-f]{2}){1,2048}/gi, (run) =>
      Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
    )
    .replace(/&#x([0-9a-f]{1,6});?|&#(\d{1,7});?/gi, (_, hex?: string, decimal?: string) =>
      point(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
    )
    .replace(/\\u\{?([0-9a-f]{4,6})\}?|\\x([0-9a-f]{2})/gi, (_, unicode?: string, byte?: string) =>
      point(Number.parseInt(unicode ?? byte ?? '', 16)),
    );
  return plain === text ? null : plain.replaceAll('+', ' ');
}

function point(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** ROT13, letter by letter: the same length. */
export function rot13(text: string): string {
  return mapped(text, (units, length) => {
    for (let i = 0; i < length; i++) {
      const code = units[i] as number;
      const base = code >= 97 && code <= 122 ? 97 : code >= 65 && code <= 90 ? 65 : 0;
      if (base !== 0) units[i] = ((code - base + 13) % 26) + base;
    }
    return true;
  });
}

/** From its end to its beginning. */
export function backwards(text: string): string {
  return mapped(text, (units, length) => {
    units.subarray(0, length).reverse();
    return true;
  });
}

/** Used again from text to text: most are short. */
const scratch = new Uint16Array(16_384);
const scratchBytes = Buffer.alloc(scratch.length);

/** The text with its code units changed in place, the same number of them; itself when `change` says that nothing did. */
function mapped(text: string, change: (units: Uint16Array, length: number) => boolean): string {
  const { length } = text;
  const units = length <= scratch.length ? scratch : new Uint16Array(length);
  let all = 0;
  for (let i = 0; i < length; i++) all |= units[i] = text.charCodeAt(i);
  if (!change(units, length)) return text;
  if (all > 255) return Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
  // One byte a character where that is enough: what is done with the text then is cheaper, too.
  const bytes = length <= scratchBytes.length ? scratchBytes : Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) bytes[i] = units[i] as number;
  return bytes.toString('latin1', 0, length);
}

/** Digits and signs, by the letters they are written for. */
const leet: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};

/** Whether `unleet` changes anything. */
export const mayBeLeet = (text: string): boolean => /[A-Za-z][013457@$]|[013457@$][A-Za-z]/.test(text);

const SIGN = 1;
const LETTER = 2;
/** What a character of a word in leetspeak is; for a sign, `letterFor` has its letter. */
const leetKinds = new Uint8Array(128).fill(LETTER, 65, 91).fill(LETTER, 97, 123);
const letterFor = Uint16Array.from({ length: 128 }, (_, code) => code);
for (const [sign, letter] of Object.entries(leet)) {
  leetKinds[sign.charCodeAt(0)] = SIGN;
  letterFor[sign.charCodeAt(0)] = letter.charCodeAt(0);
}

/** Digits and signs in words as the letters they stand for: the same length, and the text itself where there are none. */
export function unleet(text: string): string {
  return mapped(text, (units, length) => {
    let changed = false;
    let start = 0;
    let seen = 0;
    for (let i = 0; i <= length; i++) {
      const code = i < length ? (units[i] as number) : 128;
      const kind = code < 128 ? (leetKinds[code] as number) : 0;
      if (kind !== 0) {
        seen |= kind;
        continue;
      }
      if (seen === (SIGN | LETTER)) {
        for (let at = start; at < i; at++) units[at] = letterFor[units[at] as number] as number;
        changed = true;
      }
      start = i + 1;
      seen = 0;
    }
    return changed;
  });
}
