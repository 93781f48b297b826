import { z } from 'zod';

/** A name as PostgreSQL has it in its catalogue; any characters but NUL, at most 63 bytes. */
export const identifier = z
  .string()
  .min(1)
  .refine((name) => Buffer.byteLength(name) <= 63 && !name.includes('\0'), 'at most 63 bytes, no NUL');

/** `"name"`, quotes doubled: nothing in it can end the identifier. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
