import type { Span } from '../secrets/rule.ts';

/** A Base64 or hexadecimal text is at least this long to say anything. */
const MIN_RUN = 20;

const NONE = 255;
/** What a character of Base64 (both alphabets) stands for. */
const sextets = new Uint8Array(128).fill(NONE);
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
for (const alphabet of [`${letters}+/`, `${letters}-_`])
  for (let value = 0; value < 64; value++) sextets[alphabet.charCodeAt(value)] = value;

const HEX = 1;
const GAP = 2;
const kinds = new Uint8Array(128);
for (const char of '0123456789abcdefABCDEF') kinds[char.charCodeAt(0)] = HEX;
for (const char of ' :') kinds[char.charCodeAt(0)] = GAP;

/** Runs that may be Base64 or hexadecimal, padding included. */
export function codeRuns(text: string): readonly Span[] {
  const runs: Span[] = [];
  const { length } = text;
  for (let at = 0; at + MIN_RUN <= length; ) {
    // No run can cross a character that is not in one: look at the end of the window first, and jump.
    let back = at + MIN_RUN - 1;
    while (back >= at && inRun(text, back)) back--;
    if (back >= at) {
      at = back + 1;
      continue;
    }
    let end = at + MIN_RUN;
    while (end < length && inRun(text, end)) end++;
    const start = at;
    at = end;
    while (at < end + 2 && text[at] === '=') at++;
    runs.push({ start, end: at });
  }
  return runs;
}

function inRun(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && sextets[code] !== NONE;
}

/**
 * Whether the bytes of a run have no control character: what is readable has none, and most of what is code for other things
 * has one among the first. Nothing is decoded for it. Padding is left out.
 */
export function isCodeOfText(text: string, { start, end }: Span, code: 'hex' | 'base64'): boolean {
  const length = withoutPadding(text, start, end) - start;
  const bytes = code === 'hex' ? length >> 1 : (length >> 2) * 3;
  for (let n = 0; n < bytes; n++) {
    const byte = code === 'hex' ? hexByte(text, start, n) : base64Byte(text, start, n);
    if (byte < 32 ? byte !== 9 && byte !== 10 && byte !== 13 : byte === 127) return false;
  }
  return true;
}

/** RFC 4648, section 6: as long as a text worth looking at makes it. */
const MIN_BASE32 = 32;

export function isBase32(text: string, { start, end }: Span): boolean {
  const last = withoutPadding(text, start, end);
  if (last - start < MIN_BASE32) return false;
  for (let at = start; at < last; at++) {
    const code = text.charCodeAt(at);
    if (!((code >= 65 && code <= 90) || (code >= 50 && code <= 55))) return false;
  }
  return true;
}

function withoutPadding(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && text.charCodeAt(last - 1) === 61) last--;
  return last;
}

function hexByte(text: string, start: number, n: number): number {
  return nibble(text.charCodeAt(start + 2 * n)) * 16 + nibble(text.charCodeAt(start + 2 * n + 1));
}

/** Of what is no digit: 0, as of `0`, which makes a control character. */
function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : 0;
}

/** Three bytes in four characters. */
function base64Byte(text: string, start: number, n: number): number {
  const at = start + ((n / 3) | 0) * 4 + (n % 3);
  const shift = 2 * (n % 3);
  const one = sextets[text.charCodeAt(at)] as number;
  const two = sextets[text.charCodeAt(at + 1)] as number;
  return ((one << (2 + shift)) | (two >> (4 - shift))) & 255;
}

/** Sampled: twelve bytes in hexadecimal with gaps begin 33 groups of three, twelve of bits take 96 characters. */
const STRIDE = 16;
const SPACED_HEX = 33;
const BITS = 96;

/** Whether a run of bytes in hexadecimal with gaps, or of bits, may stand in the text. */
export function hasSpacedCode(text: string): boolean {
  for (let at = STRIDE; at < text.length; at += STRIDE) {
    // So long a run has a sample in it with two characters of it on either side.
    if (kindAt(text, at) === 0 || kindAt(text, at - 1) === 0 || kindAt(text, at + 1) === 0) continue;
    if (kindAt(text, at - 2) === 0 || kindAt(text, at + 2) === 0) continue;
    // Of three in a row one is a gap, or all are bits.
    if (
      kindAt(text, at) !== GAP &&
      kindAt(text, at - 1) !== GAP &&
      kindAt(text, at + 1) !== GAP &&
      !isBit(text, at)
    )
      continue;
    if (stretch(text, at, isSpacedHex) >= SPACED_HEX || stretch(text, at, isBit) >= BITS) return true;
  }
  return false;
}

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (kinds[code] as number) : 0;
}

/** Of every three characters in a row two are hexadecimal and one is a gap. */
function isSpacedHex(text: string, at: number): boolean {
  const [a, b, c] = [kindAt(text, at), kindAt(text, at + 1), kindAt(text, at + 2)];
  return (
    (a === HEX && b === HEX && c === GAP) ||
    (a === HEX && b === GAP && c === HEX) ||
    (a === GAP && b === HEX && c === HEX)
  );
}

function isBit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 48 || code === 49 || code === 32;
}

/** How many characters around a place go on like this, at most as many as matter. */
function stretch(text: string, at: number, goesOn: (text: string, at: number) => boolean): number {
  let from = at;
  let to = at;
  while (from > 0 && to - from < BITS && goesOn(text, from - 1)) from--;
  while (to < text.length && to - from < BITS && goesOn(text, to)) to++;
  return to - from;
}
