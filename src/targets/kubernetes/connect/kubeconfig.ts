import { KubeConfig } from '@kubernetes/client-node';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * A context of a kubeconfig, or what the cluster gives to a pod when no file is named. Throws Error with what is wrong.
 * A kubeconfig may name a program that is run to get a credential. Whoever can write that file could then run anything as
 * Sentry, so such a user is refused: a service account's token is enough.
 */
export function loadKubeconfig(file: string | undefined, context: string | undefined): KubeConfig {
  const config = new KubeConfig();
  if (file === undefined) {
    config.loadFromCluster();
    return config;
  }
  config.loadFromFile(file);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  const chosen = config.getCurrentContext();
  if (!cluster || !user) throw new Error(`it has no whole context "${chosen}"`);
  if (user.exec || user.authProvider)
    throw new Error(
      `user "${user.name}" gets its credential from a program or a login service, which Sentry does not run; use the token of a service account`,
    );
  const { protocol, hostname } = new URL(cluster.server);
  if (LOOPBACK.test(hostname)) return config;
  if (protocol !== 'https:') throw new Error(`the server of context "${chosen}" is not reached by https`);
  if (cluster.skipTLSVerify)
    throw new Error(
      `context "${chosen}" does not verify its server (insecure-skip-tls-verify); name its certificate authority`,
    );
  return config;
}
