import { OpsError } from '../../../../core/errors.ts';
import type { HostKeyPin, SshLogin } from '../../ssh-config.ts';

type Algorithm = 'ssh-ed25519' | 'rsa-sha2-512' | 'rsa-sha2-256' | `ecdsa-sha2-nistp${256 | 384 | 521}`;

/** How a server signs by a key of each type; never by SHA-1. A server is asked for one family only, as it answers with one key. */
const families: Readonly<Record<string, readonly Algorithm[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
};

/** Which algorithms to ask for, one list after the other: those of the pinned keys; all of them for a bare fingerprint. */
export function algorithmsFor(pins: readonly HostKeyPin[]): readonly (readonly Algorithm[])[] {
  const types = pins.some(({ type }) => type === null)
    ? Object.keys(families)
    : [...new Set(pins.map(({ type }) => type ?? ''))];
  return types.flatMap((type) => (families[type] ? [families[type]] : []));
}

/** `seen`: what the server showed, a fingerprint each. */
export function hostKeyDiffers({ host, port, hostKeys }: SshLogin, seen: readonly string[]): OpsError {
  const pinned = hostKeys.map(({ fingerprint }) => fingerprint).join(', ');
  const shown = seen.length === 0 ? 'shows no key of that kind' : `shows ${seen.join(', ')}`;
  return new OpsError(
    'HOST_KEY_DIFFERS',
    `${host}:${port} ${shown}, and host_key says ${pinned}. Nothing was sent to it.`,
    {
      hint: `Somebody may be between Sentry and the host. Compare with what its console says (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub); only if it was reinstalled, write the new one into host_key (ssh-keyscan -p ${port} ${host}).`,
    },
  );
}
