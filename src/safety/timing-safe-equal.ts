import { timingSafeEqual as sameBytes } from 'node:crypto';
import { sha256 } from './sha256.ts';

/** Whether two secrets are the same, in a time that tells neither length nor common prefix. */
export function timingSafeEqual(a: string, b: string): boolean {
  return sameBytes(Buffer.from(sha256(a)), Buffer.from(sha256(b)));
}
