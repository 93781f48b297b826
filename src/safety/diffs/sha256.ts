import { createHash } from 'node:crypto';

/** Hexadecimal SHA-256. */
export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
