import { randomUUID } from 'node:crypto';
import { messageOf, OpsError, type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Role } from '../../core/incident.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { AuditLog } from '../audit/audit-chain.ts';
import { type Claims, isSignedBy, type Signatures, signClaims } from './claims.ts';
import type { Identities, KeyPair } from './identities.ts';

/** Only to be asked: a Set could be added to by whoever holds the credential. */
export type Toolsets = Pick<ReadonlySet<string>, 'has'>;

/**
 * What a role may use in one phase of one incident: signed by the role's identity and by the process's that acts for it.
 * It is known by itself, so that a copy or a look-alike is none, and good in the process that made it alone.
 */
export interface Credential extends Omit<Claims, 'toolsets'> {
  readonly toolsets: Toolsets;
}

interface Grant {
  readonly role: Role;
  readonly incidentId: IncidentId;
  readonly targets: readonly string[];
  readonly toolsets?: readonly string[];
  /** Absent: whatever the role may use. */
  readonly tools?: readonly string[];
  /** Good for one call. */
  readonly singleUse?: boolean;
}

export interface CredentialVault {
  /**
   * Signs one; it is put on record meanwhile, and `check` waits for that.
   * Throws OpsError IDENTITY_REVOKED when the role's identity is revoked.
   */
  mint(grant: Grant): Credential;
  /** The phase has ended. At once, here and on record. */
  revoke(credential: Credential): void;
  /** Whether it was made here, live or not: what a made-up one says of itself (its incident) is not to be believed. */
  isOurs(credential: Credential): boolean;
  /**
   * Undefined when it is one of ours, signed as it stands, neither revoked nor expired nor used up, and good for this tool.
   * Read from the record at every call: a revocation is obeyed at once, whichever process made it. Throws when it cannot
   * be known.
   */
  check(credential: Credential, tool?: string): Promise<Refusal | undefined>;
  /** Forgets what has ended long ago; the audit log keeps it for ever. */
  tidy(): Promise<void>;
  /** Ends this process's identity, and with it everything it signed. */
  close(): Promise<void>;
}

/** How long a credential is good for, in ms: longer than a phase takes, shorter than anybody needs to make use of a stolen one. */
export const CREDENTIAL_TTL_MS = 15 * 60_000;
/** Rows of credentials stay this long after their end, for whoever looks into what happened. */
const KEEP_DAYS = 7;

export interface VaultOptions {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly identities: Identities;
  readonly executorId: string;
  readonly log: Log;
  readonly ttlMs?: number;
  readonly now?: () => number;
}

/** Makes the identities that are missing, enrols this process, and loads the keys that sign. */
export async function openCredentialVault(options: VaultOptions): Promise<CredentialVault> {
  const { sql, identities, log, ttlMs = CREDENTIAL_TTL_MS, now = Date.now } = options;
  await identities.ensureRoles();
  const signers = await loadSigners(identities, log);
  const process = await identities.enrol(options.executorId);
  await tidy(sql, process.id);
  const made = new WeakMap<Credential, Made>();

  return {
    mint(grant) {
      const signer = signers.of(grant.role);
      const claims = claim(grant, signer.id, process.id, now() + ttlMs);
      const credential: Credential = Object.freeze({ ...claims, toolsets: askOnly(claims.toolsets) });
      const recorded = record(options, claims, ttlMs);
      // Whoever checks it hears of the failure; nobody may.
      recorded.catch(() => undefined);
      const signatures = signClaims(claims, signer.privateKey, process.privateKey);
      made.set(credential, { claims, signatures, signer, recorded, live: true });
      return credential;
    },

    revoke(credential) {
      const one = made.get(credential);
      if (!one?.live) return;
      one.live = false;
      one.recorded
        .then(() => sql`UPDATE credential SET revoked_at = clock_timestamp() WHERE id = ${one.claims.id}`)
        .catch((error: unknown) =>
          // Here it is revoked, and it is good nowhere else.
          log.warn({ credential: one.claims.id, error: messageOf(error) }, 'a revocation is not on record'),
        );
    },

    isOurs: (credential) => made.has(credential),

    async check(credential, tool) {
      const one = made.get(credential);
      if (!one?.live) return invalid();
      const { claims, signatures, signer, recorded } = one;
      if (!isSignedBy(saidBy(credential, claims), signatures, signer.publicKey, process.publicKey))
        return invalid();
      if (claims.expiresAt <= now()) return expired();
      if (tool !== undefined && claims.tools !== null && !claims.tools.includes(tool))
        return refuse('TOOL_OUT_OF_SCOPE', `This credential is not good for ${tool.slice(0, 80)}.`);
      await recorded;
      return checkRecord(sql, claims, signers.reload);
    },

    tidy: () => tidy(sql, process.id),

    async close() {
      await identities.revoke(process.id, 'system', 'the process has ended');
    },
  };
}

/** A credential that was made here, and what it was signed as. */
interface Made {
  readonly claims: Claims;
  readonly signatures: Signatures;
  readonly signer: KeyPair;
  /** Resolves when it is on record. */
  readonly recorded: Promise<void>;
  live: boolean;
}

interface Signers {
  /** Throws OpsError IDENTITY_REVOKED when the role has none. */
  of(role: Role): KeyPair;
  /** Another process has rotated a role's identity: the next credential is signed by the new one. */
  reload(): void;
}

async function loadSigners(identities: Identities, log: Log): Promise<Signers> {
  let signing = await identities.signing();
  let reloading: Promise<void> | undefined;

  function reload(): void {
    reloading ??= identities
      .signing()
      .then((found) => {
        signing = found;
      })
      .catch((error: unknown) => log.error({ error: messageOf(error) }, 'the identities cannot be read anew'))
      .finally(() => {
        reloading = undefined;
      });
  }

  return {
    reload,
    of(role) {
      const signer = signing.get(role);
      if (signer) return signer;
      reload();
      throw new OpsError(
        'IDENTITY_REVOKED',
        `The identity of the ${role} role is revoked: it may do nothing.`,
        {
          hint: `sentry identity rotate ${role} gives it a new one.`,
        },
      );
    },
  };
}

function claim(
  { role, incidentId, targets, toolsets = [], tools, singleUse = false }: Grant,
  identity: string,
  process: string,
  expiresAt: number,
): Claims {
  return {
    id: `cred_${randomUUID().replaceAll('-', '')}`,
    role,
    identity,
    process,
    incidentId,
    targets: Object.freeze([...targets]),
    tools: tools ? Object.freeze([...tools]) : null,
    toolsets: Object.freeze([...toolsets]),
    expiresAt,
    singleUse,
  };
}

async function record({ sql, audit }: VaultOptions, claims: Claims, ttlMs: number): Promise<void> {
  const { id, role, identity, process, incidentId, targets, tools } = claims;
  await sql`
    INSERT INTO credential (id, identity_id, process_id, incident_id, expires_at)
    VALUES (${id}, ${identity}, ${process}, ${incidentId}, clock_timestamp() + ${ttlMs} * interval '1 millisecond')`;
  const details = { credential: id, identity, process, targets: [...targets], tools: tools && [...tools] };
  await audit.append({ kind: 'credential.minted', actor: role, incidentId, details });
}

/** Undefined when the record says that it is good; a single-use one is used up by this. */
async function checkRecord(
  sql: Sql,
  { id, singleUse }: Claims,
  reloadSigners: () => void,
): Promise<Refusal | undefined> {
  const [row] = await sql<Record<'revoked' | 'expired' | 'identity_revoked' | 'rotated', boolean>>`
    SELECT c.revoked_at IS NOT NULL AS revoked, c.expires_at <= clock_timestamp() AS expired,
           r.revoked_at IS NOT NULL OR p.revoked_at IS NOT NULL AS identity_revoked, r.rotated_at IS NOT NULL AS rotated
      FROM credential c JOIN identity r ON r.id = c.identity_id JOIN identity p ON p.id = c.process_id
     WHERE c.id = ${id}`;
  if (row?.identity_revoked || row?.rotated) reloadSigners();
  if (!row || row.revoked !== false) return invalid();
  if (row.identity_revoked !== false)
    return refuse('IDENTITY_REVOKED', 'The identity that signed this credential has been revoked.');
  if (row.expired !== false) return expired();
  if (!singleUse) return undefined;
  const first = await sql`
    UPDATE credential SET used_at = clock_timestamp() WHERE id = ${id} AND used_at IS NULL RETURNING id`;
  return first.length === 1
    ? undefined
    : refuse('CREDENTIAL_REPLAYED', 'This credential was good for one call, and has been used.');
}

async function tidy(sql: Sql, ownProcess: string): Promise<void> {
  await sql`DELETE FROM credential WHERE expires_at < statement_timestamp() - ${KEEP_DAYS} * interval '1 day'`;
  await sql`
    DELETE FROM identity i WHERE kind = 'process' AND id <> ${ownProcess} AND created_at < clock_timestamp() - ${KEEP_DAYS} * interval '1 day'
       AND NOT EXISTS (SELECT FROM credential c WHERE c.process_id = i.id)
       AND NOT EXISTS (SELECT FROM process p WHERE p.executor_id = i.name
                          AND p.beat_at > clock_timestamp() - ${KEEP_DAYS} * interval '1 day')`;
}

/** What stands in the credential now; only the toolsets, which can but be asked for, are taken from what was signed. */
function saidBy(credential: Credential, { toolsets }: Claims): Claims {
  return { ...credential, toolsets };
}

const invalid = (): Refusal =>
  refuse('CREDENTIAL_INVALID', 'This credential was never given out, or has been revoked.');
const expired = (): Refusal =>
  refuse('CREDENTIAL_EXPIRED', 'The credential has expired; the phase must start again.');

function askOnly(names: readonly string[]): Toolsets {
  const set = new Set(names);
  return Object.freeze({ has: (name: string) => set.has(name) });
}
