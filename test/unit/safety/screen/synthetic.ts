const lower = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const upper = lower.toUpperCase();
const alphabets: Readonly<Record<string, string>> = {
  h: `${digits}abcdef`,
  d: digits,
  a: lower,
  l: lower + digits,
  U: upper + digits,
  w: lower + upper + digits,
  b: `${lower}${upper}${digits}+/`,
  s: `${lower}${upper}${digits}_-`,
};

/**
 * A made-up secret from its shape: `{h32}` is 32 hexadecimal digits, `{w20}` 20 letters and digits, `{U}` upper, `{l}` lower case and
 * digits, `{a}` letters, `{d}` digits, `{b}` Base64, `{s}` Base64url. The same shape always gives the same text, so that no secret, not
 * even a false one, has to stand in the repository.
 */
export function synthetic(shape: string): string {
  let state = shape.split('').reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 7);
  return shape.replace(/\{([a-zA-Z])(\d+)\}/g, (_, kind: string, length: string) => {
    const alphabet = alphabets[kind] ?? lower;
    let out = '';
    for (let i = 0; i < Number(length); i++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      // Every class shows up, as it does in what a random generator makes.
      const pool =
        i === 1 && alphabet.includes('7') ? digits : i === 2 && alphabet.includes('K') ? upper : alphabet;
      out += pool[(state >>> 16) % pool.length];
    }
    return out;
  });
}

/** The same with every run cut to an eighth: too short to be what it pretends. */
export function tooShort(shape: string): string {
  return synthetic(
    shape.replace(
      /\{([a-zA-Z])(\d+)\}/g,
      (_, kind: string, length: string) => `{${kind}${Math.max(1, Math.floor(Number(length) / 8))}}`,
    ),
  );
}
