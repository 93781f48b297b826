import { type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Role } from '../../core/incident.ts';

/** What a credential says: who may use what, where, until when. All of it is signed. */
export interface Claims {
  readonly id: string;
  readonly role: Role;
  /** Ids of the two identities that signed it: the role's, and the process's that acts for it. */
  readonly identity: string;
  readonly process: string;
  readonly incidentId: IncidentId;
  /** Names of the configured targets it may name. */
  readonly targets: readonly string[];
  /** Names of the tools it is good for; null: whatever the role's row of the access table allows. */
  readonly tools: readonly string[] | null;
  /** Toolsets loaded in this incident (`memory`). */
  readonly toolsets: readonly string[];
  /** Epoch ms. */
  readonly expiresAt: number;
  /** Good for one call only. */
  readonly singleUse: boolean;
}

/** Ed25519, base64: the role's over the claims, the process's over the same. */
export interface Signatures {
  readonly byRole: string;
  readonly byProcess: string;
}

export function signClaims(claims: Claims, role: KeyObject, process: KeyObject): Signatures {
  const text = textOf(claims);
  return {
    byRole: sign(null, text, role).toString('base64'),
    byProcess: sign(null, text, process).toString('base64'),
  };
}

/** Whether both identities signed exactly this; the keys are public ones. Never throws. */
export function isSignedBy(
  claims: Claims,
  { byRole, byProcess }: Signatures,
  role: KeyObject,
  process: KeyObject,
): boolean {
  const text = textOf(claims);
  return (
    verify(null, text, role, Buffer.from(byRole, 'base64')) &&
    verify(null, text, process, Buffer.from(byProcess, 'base64'))
  );
}

/** Named fields only, in one order: whatever else an object carries is not signed and not read. */
function textOf(claims: Claims): Buffer {
  const { id, role, identity, process, incidentId, targets, tools, toolsets, expiresAt, singleUse } = claims;
  const said = { id, role, identity, process, incidentId, targets, tools, toolsets, expiresAt, singleUse };
  return Buffer.from(`sentry credential\n${canonicalJson(said)}`);
}
