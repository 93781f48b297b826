import { type Refusal, refuse } from '../domain/errors.ts';
import type { IncidentId } from '../domain/ids.ts';
import type { Role } from '../domain/incident.ts';

/** Only to be asked: a Set could be added to by whoever holds the credential. */
export type Toolsets = Pick<ReadonlySet<string>, 'has'>;

/** What a role may use in one phase of one incident. Only this module can make one that the gate accepts. */
export interface Credential {
  readonly role: Role;
  readonly incidentId: IncidentId;
  /** Names of the configured targets it may name. */
  readonly targets: readonly string[];
  /** Toolsets loaded in this incident (`memory`). */
  readonly toolsets: Toolsets;
  /** Epoch ms. */
  readonly expiresAt: number;
}

export interface CredentialVault {
  mint(grant: {
    readonly role: Role;
    readonly incidentId: IncidentId;
    readonly targets: readonly string[];
    readonly toolsets?: readonly string[];
  }): Credential;
  revoke(credential: Credential): void;
  /** Whether it was made here, live or not: what a made-up one says of itself (its incident) is not to be believed. */
  isOurs(credential: Credential): boolean;
  /** Undefined when it is one of ours, neither revoked nor expired. */
  check(credential: Credential): Refusal | undefined;
}

const TTL_MS = 15 * 60_000;

/** Credentials live in this process for one phase; they are known by identity, so a copy or a look-alike is refused. */
export function createCredentialVault(now: () => number = Date.now): CredentialVault {
  const live = new WeakSet<Credential>();
  const ours = new WeakSet<Credential>();
  return {
    mint({ role, incidentId, targets, toolsets = [] }) {
      const credential = Object.freeze({
        role,
        incidentId,
        targets: Object.freeze([...targets]),
        toolsets: askOnly(toolsets),
        expiresAt: now() + TTL_MS,
      });
      live.add(credential);
      ours.add(credential);
      return credential;
    },
    revoke(credential) {
      live.delete(credential);
    },
    isOurs: (credential) => ours.has(credential),
    check(credential) {
      if (!live.has(credential))
        return refuse('CREDENTIAL_INVALID', 'This credential was never given out, or has been revoked.');
      if (credential.expiresAt <= now())
        return refuse('CREDENTIAL_EXPIRED', 'The credential has expired; the phase must start again.');
      return undefined;
    },
  };
}

function askOnly(names: readonly string[]): Toolsets {
  const set = new Set(names);
  return Object.freeze({ has: (name: string) => set.has(name) });
}
