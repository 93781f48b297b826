import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { join } from 'node:path';
import { messageOf, OpsError } from '../../core/errors.ts';
import { sha256 } from '../sha256.ts';
import { keyFile } from '../vault/key-file.ts';

/** Says, signed, that the log's entry `seq` had this hash at some moment: whoever rewrites the log cannot make another. */
export interface Checkpoint {
  readonly seq: number;
  readonly hash: string;
  /** The signing key's id. */
  readonly key: string;
  /** Ed25519, base64. */
  readonly signature: string;
}

export interface CheckpointKey {
  /** First 16 hex digits of the SHA-256 of the public key. */
  readonly id: string;
  readonly publicKey: string;
  sign(at: Pick<Checkpoint, 'seq' | 'hash'>): Checkpoint;
  isSigned(checkpoint: Checkpoint): boolean;
}

export const CHECKPOINT_KIND = 'audit.checkpoint';
const KEY_FILE = 'audit-key.pem';

const textOf = ({ seq, hash }: Pick<Checkpoint, 'seq' | 'hash'>): Buffer =>
  Buffer.from(`sentry audit checkpoint\n${seq}\n${hash}`);

/** The key of this data folder (mode 0600); null when it has none and none is to be made. Throws OpsError AUDIT_KEY. */
export function openCheckpointKey(
  dataDir: string,
  options: { readonly make: boolean },
): CheckpointKey | null {
  const path = join(dataDir, KEY_FILE);
  try {
    const pem = keyFile(path, options.make ? makeKey : null);
    return pem === null ? null : keyFrom(pem);
  } catch (error) {
    throw new OpsError('AUDIT_KEY', `The key that signs the audit log cannot be used: ${messageOf(error)}`, {
      hint: `Look at ${path}: it has to be an Ed25519 key that only the user who runs Sentry can read. Keep the old one when you replace it: it alone proves older checkpoints.`,
      cause: error,
    });
  }
}

function keyFrom(pem: string): CheckpointKey {
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const id = sha256(der).slice(0, 16);
  return {
    id,
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
    sign: ({ seq, hash }) => ({
      seq,
      hash,
      key: id,
      signature: sign(null, textOf({ seq, hash }), privateKey).toString('base64'),
    }),
    isSigned: (checkpoint) =>
      verify(null, textOf(checkpoint), publicKey, Buffer.from(checkpoint.signature, 'base64')),
  };
}

function makeKey(): string | Buffer {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
}

/** The checkpoint an audit entry's body carries; undefined for any other entry. */
export function readCheckpoint(body: string): Checkpoint | undefined {
  if (!body.includes(CHECKPOINT_KIND)) return undefined;
  const entry = parse(body);
  if (entry?.['kind'] !== CHECKPOINT_KIND) return undefined;
  return asCheckpoint(entry['details']);
}

export function asCheckpoint(given: unknown): Checkpoint | undefined {
  const { seq, hash, key, signature } = (given ?? {}) as Record<string, unknown>;
  return typeof seq === 'number' &&
    typeof hash === 'string' &&
    typeof key === 'string' &&
    typeof signature === 'string'
    ? { seq, hash, key, signature }
    : undefined;
}

function parse(body: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    // Not JSON: not an entry of ours, and the chain's check says so.
    return undefined;
  }
}
