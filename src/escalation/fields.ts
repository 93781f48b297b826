import { z } from 'zod';
import { secretFile, secretVariable } from '../safety/named-secret.ts';

/**
 * Where the key of an entry is: in a variable, or in a file. `key: env:NAME` is how it was said before. Whoever writes the secret itself
 * here must not read it again in the error.
 */
export const keyFields = {
  key_env: secretVariable.optional(),
  key_file: secretFile.optional(),
  key: z
    .string()
    .regex(/^env:[A-Za-z_][A-Za-z0-9_]*$/, 'expected key_env: NAME, the environment variable that holds it')
    .transform((text) => text.slice('env:'.length))
    .optional(),
} as const;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** An address that Sentry calls with a key. */
export const serviceUrl = z
  .string()
  .refine(
    isServiceUrl,
    'expected an https:// URL without a user, a password or a #part; http:// only to this machine',
  );

function isServiceUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

/** Where a service runs: its own cloud in a region, or an address in place of it (a proxy, a test). */
export const servedFrom = <const R extends readonly [string, ...string[]]>(regions: R) => ({
  region: z.enum(regions).default(regions[0]),
  url: serviceUrl.optional(),
});

const A_TIME = 'expected a time like 90s, 5m or 2h';
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `90s`, `5m`, `2h`: milliseconds. */
export const duration = z
  .string(A_TIME)
  .regex(/^\d{1,5}[smh]$/, A_TIME)
  .transform((text) => Number(text.slice(0, -1)) * unitMs[text.slice(-1) as keyof typeof unitMs]);

/** A key that goes into a header. */
export const headerKey = z
  .string()
  .regex(/^[\x21-\x7e]{8,500}$/, 'is no key: expected one line of at least 8 characters, without spaces');
