import { type BinaryToTextEncoding, createHash } from 'node:crypto';

/** SHA-256, hexadecimal unless told otherwise; of a string its UTF-8. */
export function sha256(content: string | Buffer, encoding: BinaryToTextEncoding = 'hex'): string {
  return createHash('sha256').update(content).digest(encoding);
}
