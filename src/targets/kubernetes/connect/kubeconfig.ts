import { dirname } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { messageOf, OpsError } from '../../../core/errors.ts';

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
 * when it is needed. Throws OpsError KUBERNETES_KUBECONFIG with what is wrong.
 */
export async function loadKubeconfig(file: KubeconfigFile | null): Promise<KubeConfig> {
  const config = new (await import('@kubernetes/client-node')).KubeConfig();
  if (file === null) {
    config.loadFromCluster();
    return config;
  }
  try {
    config.loadFromString(file.text);
    config.makePathsAbsolute(dirname(file.path));
    if (file.context !== undefined) config.setCurrentContext(file.context);
    check(config);
    return config;
  } catch (error) {
    throw new OpsError('KUBERNETES_KUBECONFIG', `${file.path}: ${messageOf(error)}`, {
      hint: 'Correct the file, or name another kubeconfig_file or context in sentry.yaml; then restart Sentry.',
      cause: error,
    });
  }
}

/**
 * A kubeconfig may name a program that is run to get a credential. Whoever can write that file could then run anything as
 * Sentry, so such a user is refused: a service account's token is enough.
 */
function check(config: KubeConfig): void {
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  const chosen = config.getCurrentContext();
  if (!cluster || !user) throw new Error(`it has no whole context "${chosen}"`);
  if (user.exec || user.authProvider)
    throw new Error(
      `user "${user.name}" gets its credential from a program or a login service, which Sentry does not run; use the token of a service account`,
    );
  const { protocol, hostname } = new URL(cluster.server);
  if (LOOPBACK.test(hostname)) return;
  if (protocol !== 'https:') throw new Error(`the server of context "${chosen}" is not reached by https`);
  if (cluster.skipTLSVerify)
    throw new Error(
      `context "${chosen}" does not verify its server (insecure-skip-tls-verify); name its certificate authority`,
    );
}
