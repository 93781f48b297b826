import type { CredentialVault } from '../../safety/vault/credentials.ts';
import type { Check } from './check.ts';

/** Check 3: the credential is one we gave out, signed, neither expired nor revoked nor used up, and good for this tool. */
export function liveCredential(vault: CredentialVault): Check {
  return ({ credential, tool }) => vault.check(credential, tool?.name);
}
