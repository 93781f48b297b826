import { createHash } from 'node:crypto';

/** The public half of a key pair, which is no secret. */
export interface PublicKey {
  /** `ssh-ed25519`, `ssh-rsa`, `ecdsa-sha2-nistp256`. */
  readonly type: string;
  /** `SHA256:…`, as ssh-keygen -l shows it. */
  readonly fingerprint: string;
}

/** As in `.pub` files and, with a name or addresses in front, in the lines of ssh-keyscan and known_hosts. */
const line =
  /^(?:[^\s@|#][^\s]{0,500} )?((?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]{1,60}) (AAAA[A-Za-z0-9+/]{20,8000}={0,2})(?: [^\n]{0,200})?$/u;

/** A line with a public key in the format of OpenSSH; undefined for any other text. */
export function readPublicKey(text: string): PublicKey | undefined {
  const [, type = '', encoded = ''] = line.exec(text.trim()) ?? [];
  const blob = Buffer.from(encoded, 'base64');
  // The key names its type itself (RFC 4253, 6.6): whatever else is written there is no public key.
  if (type === '' || nameIn(blob) !== type) return undefined;
  return { type, fingerprint: fingerprintOf(blob) };
}

/** The type of a key as it is sent over the wire; undefined when it names none. */
export function nameIn(blob: Buffer): string | undefined {
  if (blob.length < 4) return undefined;
  const length = blob.readUInt32BE(0);
  return length > 0 && length <= 64 ? blob.subarray(4, 4 + length).toString('latin1') : undefined;
}

export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/u, '')}`;
}
