import type { CredentialVault } from '../../security/credentials.ts';
import type { Station } from '../station.ts';

/** Station 3: the credential is one we gave out, neither expired nor revoked. */
export function liveCredential(vault: CredentialVault): Station {
  return ({ credential }) => vault.check(credential);
}
