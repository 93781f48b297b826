import { dirname, resolve } from 'node:path';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { messageOf, OpsError } from '../../../core/errors.ts';
import { readYaml } from '../../../safety/inputs/read-yaml.ts';
import { readCredentialFile } from '../../read-credential-file.ts';

/** A kubeconfig as it was when the configuration was read. */
export interface KubeconfigFile {
  readonly path: string;
  readonly text: string;
  /** Its current one when undefined. */
  readonly context: string | undefined;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Address and credential by a kubeconfig, or by what the cluster gives to a pod (null). The library is large, and so is loaded
 * when it is needed. Throws OpsError KUBERNETES_KUBECONFIG with what is wrong, and with nothing of what stands in the file.
 */
export async function loadKubeconfig(file: KubeconfigFile | null): Promise<KubeConfig> {
  const config = new (await import('./kube-config.ts')).KubeConfig();
  if (file === null) {
    config.loadFromCluster();
    return config;
  }
  try {
    const given = parsed(file.text);
    config.loadFromString(JSON.stringify(given));
    config.makePathsAbsolute(dirname(file.path));
    if (file.context !== undefined) config.setCurrentContext(file.context);
    const own = given.users?.find(({ name }) => name === config.getCurrentUser()?.name)?.user ?? {};
    check(config, own);
    if (own.tokenFile) takeTokenFile(config, resolve(dirname(file.path), own.tokenFile));
    return config;
  } catch (error) {
    // Without its cause, which may hold what stands in the file.
    throw new OpsError('KUBERNETES_KUBECONFIG', `${file.path}: ${messageOf(error)}`, {
      hint: 'Correct the file, or name another kubeconfig_file or context in sentry.yaml; then restart Sentry.',
    });
  }
}

/** What the library does not read of a user. */
interface GivenUser {
  readonly tokenFile?: string;
  readonly [key: string]: unknown;
}

interface Given {
  readonly users?: readonly { readonly name?: string; readonly user?: GivenUser | null }[];
}

function parsed(text: string): Given {
  const read = readYaml(text);
  if (!read.ok) throw new Error(`it is no YAML (line ${read.faults[0]?.line ?? 'unknown'})`);
  const given = read.value ?? null;
  if (given === null || typeof given !== 'object') throw new Error('it is no kubeconfig');
  return given as Given;
}

/** As kubectl takes it: read anew each time, as whoever put it there replaces it before it expires. */
function takeTokenFile(config: KubeConfig, path: string): void {
  const owner = config.getCurrentUser();
  config.users = config.users.map((user) => (user === owner ? { ...user, token: undefined } : user) as User);
  config.addAuthenticator({
    isAuthProvider: () => true,
    async applyAuthentication(_user, options) {
      const token = readCredentialFile(path).trim();
      options.headers = Object.assign(options.headers ?? {}, { Authorization: `Bearer ${token}` });
    },
  });
}

/**
 * A kubeconfig may name a program that is run to get a credential. Whoever can write that file could then run anything as
 * Sentry, so such a user is refused: a service account's token is enough. So is one that acts as somebody else: whom the
 * cluster's own audit names is to be Sentry.
 */
function check(config: KubeConfig, own: GivenUser): void {
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  const chosen = config.getCurrentContext();
  if (!cluster || !user) throw new Error(`it has no whole context "${chosen}"`);
  if (user.exec || user.authProvider)
    throw new Error(
      `user "${user.name}" gets its credential from a program or a login service, which Sentry does not run; use the token of a service account`,
    );
  if (Object.keys(own).some((key) => /^as(?:$|-)/.test(key)))
    throw new Error(
      `user "${user.name}" acts as somebody else (as), which Sentry does not; use the token of a service account of its own`,
    );
  const { protocol, hostname, username, password } = new URL(cluster.server);
  if (username !== '' || password !== '')
    throw new Error(
      `the server of context "${chosen}" has a credential in its address; put it into the user`,
    );
  // What goes through a proxy is not on this machine, whatever it is called.
  if (LOOPBACK.test(hostname) && !cluster.proxyUrl) return;
  if (protocol !== 'https:') throw new Error(`the server of context "${chosen}" is not reached by https`);
  if (cluster.skipTLSVerify)
    throw new Error(
      `context "${chosen}" does not verify its server (insecure-skip-tls-verify); name its certificate authority`,
    );
}
