const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digits = '0123456789';

export const alphabets = {
  hex: `${digits}abcdef`,
  digits,
  lower,
  lowerDigits: lower + digits,
  upperDigits: upper + digits,
  /** RFC 4648 §6, as in AWS key ids. */
  base32: `${upper}234567`,
  word: lower + upper + digits,
  base64: `${lower}${upper}${digits}+/`,
  base64url: `${lower}${upper}${digits}-_`,
} as const;

/** What a seed gives: the same seed, the same rows. */
export interface Draw {
  /** 0 to `below` - 1. */
  readonly number: (below: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
  readonly run: (alphabet: keyof typeof alphabets, length: number) => string;
  readonly uuid: () => string;
  readonly base64Lines: (lines: number) => string[];
}

export function createDraw(seed: number): Draw {
  let state = seed >>> 0;
  // mulberry32
  const number = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
  const pick = <T>(from: readonly T[]): T => from[number(from.length)] as T;
  const run = (alphabet: keyof typeof alphabets, length: number): string =>
    Array.from({ length }, () => pick(alphabets[alphabet].split(''))).join('');
  return {
    number,
    pick,
    run,
    uuid: () => [8, 4, 4, 4, 12].map((length) => run('hex', length)).join('-'),
    base64Lines: (lines) => [
      ...Array.from({ length: lines - 1 }, () => run('base64', 64)),
      `${run('base64', 42)}==`,
    ],
  };
}
