import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { OpsError } from '../../core/errors.ts';
import { type Role, roles } from '../../core/incident.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { AuditLog } from '../audit/audit-chain.ts';
import type { VaultKey } from './vault-key.ts';

/** Somebody who is no person and acts: a role, or a process. */
export interface Identity {
  readonly id: string;
  readonly kind: 'role' | 'process';
  readonly name: string;
  /** Which vault key made it. */
  readonly vault: string;
  readonly createdAt: string;
  readonly rotatedAt: string | null;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
  readonly reason: string | null;
}

export interface KeyPair {
  readonly id: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** The identities of this deployment, in PostgreSQL. */
export interface Identities {
  /** Makes those roles' that have never had one; one that was revoked stays revoked until it is rotated. */
  ensureRoles(): Promise<void>;
  /** The pairs that sign for the roles now. A role whose identity is revoked is missing. */
  signing(): Promise<ReadonlyMap<Role, KeyPair>>;
  /** A pair for this process, whose private half stays in its memory. */
  enrol(executorId: string): Promise<KeyPair>;
  /** A new pair for a role; what the old one signed runs out by itself. Also after a revocation. Returns the new id. */
  rotate(role: Role, by: string): Promise<string>;
  /** Nothing signed by it is good any more, in any process, at once. False when there is no such live identity. */
  revoke(id: string, by: string, reason: string): Promise<boolean>;
  /** Newest first; `all` also those that sign no more. */
  list(options: { readonly all: boolean }): Promise<readonly Identity[]>;
}

/** A role's live pair, its private half sealed. */
interface RoleRow {
  readonly id: string;
  readonly name: Role;
  readonly public_key: string;
  readonly sealed_key: string;
  readonly mac: string;
}

/** A process that has enrolled and not begun to work yet is starting, so long after. */
const STARTING_MS = 60_000;
/** One whose heart has not beaten for so long has ended, or does no harm. */
const LIVE_MS = 30_000;

export function createIdentities(deps: {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly key: VaultKey;
}): Identities {
  const { sql, audit, key } = deps;

  async function make(tx: Tx, kind: Identity['kind'], name: string, by: string): Promise<KeyPair> {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const id = `nhi_${randomUUID().replaceAll('-', '')}`;
    const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    const sealed =
      kind === 'role'
        ? key.seal(privateKey.export({ type: 'pkcs8', format: 'der' }), aboutOf(id, name))
        : null;
    await tx`
      INSERT INTO identity (id, kind, name, public_key, sealed_key, vault, mac)
      VALUES (${id}, ${kind}, ${name}, ${spki}, ${sealed}, ${key.id}, ${key.vouch(saying(id, kind, name, spki))})`;
    await audit.appendIn(tx, {
      kind: 'identity.created',
      actor: by,
      details: { identity: id, of: kind, name },
    });
    return { id, publicKey, privateKey };
  }

  /** Two processes that start together, or rotate together, do it one after the other. */
  const alone = <T>(use: (tx: Tx) => Promise<T>): Promise<T> =>
    sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`sentry vault ${key.id}`}, 0))`;
      return use(tx);
    });

  function pairOf(row: RoleRow): KeyPair {
    const { id, name, public_key: spki } = row;
    if (!key.vouches(saying(id, 'role', name, spki), row.mac))
      throw new OpsError('VAULT_FORGED', `The identity ${id} of ${name} was not made by this vault.`, {
        hint: 'Somebody wrote into the table of identities. `sentry identity rotate` makes a new one; find out who.',
      });
    const pkcs8 = key.unseal(row.sealed_key, aboutOf(id, name));
    const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    const publicKey = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' });
    return { id, privateKey, publicKey };
  }

  return {
    async ensureRoles() {
      const missing = async (from: Tx): Promise<readonly Role[]> => {
        const rows = await from<Pick<RoleRow, 'name'>>`
          SELECT DISTINCT name FROM identity WHERE vault = ${key.id} AND kind = 'role'`;
        return roles.filter((role) => !rows.some(({ name }) => name === role));
      };
      if ((await missing(sql)).length === 0) return;
      await alone(async (tx) => {
        for (const role of await missing(tx)) await make(tx, 'role', role, 'system');
      });
    },

    async signing() {
      const rows = await sql<RoleRow>`
        SELECT id, name, public_key, sealed_key, mac FROM identity
         WHERE vault = ${key.id} AND kind = 'role' AND rotated_at IS NULL AND revoked_at IS NULL`;
      return new Map(rows.map((row) => [row.name, pairOf(row)]));
    },

    enrol: (executorId) =>
      sql.begin(async (tx) => {
        // Of two that start together with a key each, one sees the other.
        await tx`SELECT pg_advisory_xact_lock(hashtextextended('sentry vault keys', 0))`;
        await refuseAnotherKey(tx, key.id);
        return make(tx, 'process', executorId, 'system');
      }),

    rotate: (role, by) =>
      alone(async (tx) => {
        await tx`
          UPDATE identity SET rotated_at = clock_timestamp()
           WHERE vault = ${key.id} AND kind = 'role' AND name = ${role} AND rotated_at IS NULL AND revoked_at IS NULL`;
        const { id } = await make(tx, 'role', role, by);
        await audit.appendIn(tx, { kind: 'identity.rotated', actor: by, details: { role, identity: id } });
        return id;
      }),

    revoke: (id, by, reason) =>
      sql.begin(async (tx) => {
        const [row] = await tx<{ kind: string; name: string }>`
          UPDATE identity SET revoked_at = clock_timestamp(), revoked_by = ${by}, reason = ${reason}
           WHERE id = ${id} AND revoked_at IS NULL RETURNING kind, name`;
        if (!row) return false;
        const details = { identity: id, of: row.kind, name: row.name, reason };
        await audit.appendIn(tx, { kind: 'identity.revoked', actor: by, details });
        return true;
      }),

    async list({ all }) {
      const rows = await sql`
        SELECT id, kind, name, vault, created_at AS "createdAt", rotated_at AS "rotatedAt", revoked_at AS "revokedAt",
               revoked_by AS "revokedBy", reason
          FROM identity WHERE ${all} OR (rotated_at IS NULL AND revoked_at IS NULL)
         ORDER BY kind DESC, created_at DESC, id`;
      return rows as unknown as readonly Identity[];
    },
  };
}

/** What one process approves the others run: they verify each other's signatures, so they need one key. */
async function refuseAnotherKey(tx: Tx, vault: string): Promise<void> {
  const rows = await tx<{ name: string }>`
    SELECT i.name FROM identity i LEFT JOIN process p ON p.executor_id = i.name
     WHERE i.kind = 'process' AND i.vault <> ${vault} AND i.revoked_at IS NULL
       AND CASE WHEN p.beat_at IS NULL THEN i.created_at > clock_timestamp() - ${STARTING_MS} * interval '1 millisecond'
                ELSE p.beat_at > clock_timestamp() - ${LIVE_MS} * interval '1 millisecond' END LIMIT 1`;
  if (rows.length === 0) return;
  throw new OpsError('VAULT_KEY_OTHER', 'Another Sentry works on this database with another vault key.', {
    hint: 'Processes that share a database must share the key that signs approvals. Set SENTRY_VAULT_KEY to the same 64 hex digits for all of them (`openssl rand -hex 32` makes one; the one in use is in the file vault-key of the other’s data folder), or give each its own DATABASE_URL. If the other one has just been killed, start again in a minute.',
  });
}

const aboutOf = (id: string, name: string): string => `${id} (${name})`;
const saying = (...parts: readonly string[]): string => JSON.stringify(['sentry identity', ...parts]);
