import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { messageOf, OpsError } from '../../core/errors.ts';
import { sha256 } from '../sha256.ts';
import { timingSafeEqual } from '../timing-safe-equal.ts';
import { keyFile } from './key-file.ts';

/** The one secret the vault rests on: it seals private keys and vouches for public ones. Never leaves this object. */
export interface VaultKey {
  /** Tells keys apart and gives nothing away: 16 hex digits. */
  readonly id: string;
  /** AES-256-GCM; `about` (whose key it is) cannot be exchanged for another. */
  seal(secret: Buffer, about: string): string;
  /** Throws OpsError VAULT_KEY when it was sealed by another key, about something else, or changed. */
  unseal(sealed: string, about: string): Buffer;
  /** HMAC-SHA256, hex. */
  vouch(text: string): string;
  vouches(text: string, mac: string): boolean;
}

export const VAULT_KEY_FILE = 'vault-key';
const NONCE = 12;
const TAG = 16;

/** From `SENTRY_VAULT_KEY`, or of this data folder (made once, mode 0600). Throws OpsError VAULT_KEY. */
export function openVaultKey(dataDir: string, configured: Buffer | null): VaultKey {
  return vaultKey(configured ?? ofFolder(join(dataDir, VAULT_KEY_FILE)));
}

function ofFolder(path: string): Buffer {
  try {
    const text = keyFile(path, () => `${randomBytes(32).toString('hex')}\n`)?.trim() ?? '';
    if (!/^[0-9a-f]{64}$/.test(text)) throw new Error('it is not 64 hex digits');
    return Buffer.from(text, 'hex');
  } catch (error) {
    throw new OpsError('VAULT_KEY', `The vault's key cannot be used: ${messageOf(error)}`, {
      hint: `Look at ${path}. Without the old key nothing is lost but the identities: remove the file, and new ones are made.`,
      cause: error,
    });
  }
}

function vaultKey(secret: Buffer): VaultKey {
  const part = (what: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `sentry vault ${what}`, 32));
  const sealing = part('seal');
  const vouching = part('vouch');
  const vouch = (text: string): string => createHmac('sha256', vouching).update(text).digest('hex');
  return {
    id: sha256(part('id')).slice(0, 16),
    seal(plain, about) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(about));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    unseal(sealed, about) {
      const bytes = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, NONCE), {
          authTagLength: TAG,
        })
          .setAAD(Buffer.from(about))
          .setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
        return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]);
      } catch (error) {
        throw new OpsError('VAULT_KEY', `The private key of ${about} is not as it was sealed.`, {
          hint: 'Somebody changed it in the database. `sentry identity rotate` makes a new one; find out who.',
          cause: error,
        });
      }
    },
    vouch,
    vouches: (text, mac) => timingSafeEqual(vouch(text), mac),
  };
}
