import { stringify } from 'yaml';

/** The text of a kubeconfig with one cluster, one user and one context. */
export function kubeconfigOf(url: string, ca: string | null, user: string, token: string): string {
  const authority = ca === null ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'playground', cluster: { server: url, ...authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'playground', context: { cluster: 'playground', user, namespace: 'default' } }],
    'current-context': 'playground',
  });
}
