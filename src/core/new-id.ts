/** Crockford's base32 without the letters that read alike: safe to say and to type. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** `<prefix>_` and 12 characters (60 bits) made of the given random bytes (at least 12). */
export function newId(prefix: 'tc' | 'act' | 'den', randomBytes: (size: number) => Uint8Array): string {
  const bytes = randomBytes(12);
  return `${prefix}_${Array.from(bytes, (byte) => ALPHABET[byte & 31]).join('')}`;
}
