import type { Span } from '../rule.ts';

/** A piece of text that is code for other text. */
export interface Decoded extends Span {
  readonly text: string;
}

const MAX_PIECE = 65_536;
const printable = /^[\t\n\r\x20-\x7e\u00a0-\uffff]*$/;

/** Everything in the text that decodes to readable text: Base64, hexadecimal, percent and backslash escapes, entities. */
export function decodePieces(text: string): readonly Decoded[] {
  const pieces: Decoded[] = [];
  for (const match of text.matchAll(/[A-Za-z0-9+/_-]{20,}={0,2}/g)) {
    const { index } = match;
    const piece = match[0].slice(0, MAX_PIECE);
    const span = { start: index, end: index + match[0].length };
    if (/^(?:[0-9a-fA-F]{2})+$/.test(piece)) add(pieces, span, Buffer.from(piece, 'hex').toString('utf8'));
    add(pieces, span, Buffer.from(piece, 'base64').toString('utf8'));
  }
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
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}

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

/** Digits and signs in words as the letters they stand for: the same length. */
export function unleet(text: string): string {
  return text.replace(/(?<![A-Za-z])[A-Za-z]*[013457@$][A-Za-z013457@$]*/g, (word) =>
    /[A-Za-z]/.test(word) ? word.replace(/[013457@$]/g, (sign) => leet[sign] ?? sign) : word,
  );
}
