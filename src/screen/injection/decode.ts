import type { Span } from '../rule.ts';
import { beginsAsText, codeRuns, hasSpacedCode } from './code-runs.ts';

/** A piece of text that is code for other text. */
export interface Decoded extends Span {
  readonly text: string;
}

const MAX_PIECE = 65_536;
const printable = /^[\t\n\r\x20-\x7e\u00a0-\uffff]*$/;

/** Everything in the text that decodes to readable text: Base64, hexadecimal, percent and backslash escapes, entities. */
export function decodePieces(text: string): readonly Decoded[] {
  const pieces: Decoded[] = [];
  for (const span of codeRuns(text)) {
    const { start } = span;
    const piece = text.slice(start, Math.min(span.end, start + MAX_PIECE));
    if (beginsAsText(piece, 'hex') && /^(?:[0-9a-fA-F]{2})+$/.test(piece))
      add(pieces, span, Buffer.from(piece, 'hex').toString('utf8'));
    if (beginsAsText(piece, 'base64')) add(pieces, span, Buffer.from(piece, 'base64').toString('utf8'));
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

function fromBits(bits: string): string {
  return (bits.replaceAll(' ', '').slice(0, MAX_PIECE).match(/.{8}/g) ?? [])
    .map((byte) => String.fromCharCode(Number.parseInt(byte, 2)))
    .join('');
}

function add(pieces: Decoded[], span: Span, text: string): void {
  if (text.length >= 10 && printable.test(text) && /[ \n\t]/.test(text)) pieces.push({ ...span, text });
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
  return mapped(text, (units) => {
    for (let i = 0; i < units.length; i++) {
      const code = units[i] as number;
      const base = code >= 97 && code <= 122 ? 97 : code >= 65 && code <= 90 ? 65 : 0;
      if (base !== 0) units[i] = ((code - base + 13) % 26) + base;
    }
  });
}

/** From its end to its beginning. */
export function backwards(text: string): string {
  return mapped(text, (units) => void units.reverse());
}

function mapped(text: string, change: (units: Uint16Array) => void): string {
  const bytes = Buffer.from(text, 'utf16le');
  const units = new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  change(units);
  return Buffer.from(units.buffer).toString('utf16le');
}

/** Digits and signs, by the letters they are written for. */
export const leet: Readonly<Record<string, string>> = {
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

/** Digits and signs in words as the letters they stand for: the same length. */
export function unleet(text: string): string {
  return text.replace(/(?<![A-Za-z])[A-Za-z]*[013457@$][A-Za-z013457@$]*/g, (word) =>
    /[A-Za-z]/.test(word) ? word.replace(/[013457@$]/g, (sign) => leet[sign] ?? sign) : word,
  );
}
