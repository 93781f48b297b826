import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { fileURLToPath } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, it } from 'vitest';

const built = fileURLToPath(
  new URL('../../dist/src/targets/kubernetes/connect/kube-config.js', import.meta.url),
);

const cluster = { server: 'https://k8s.example:6443', 'certificate-authority-data': 'Y2E=' };
const through = (proxy: string) => ({
  clusters: [{ name: 'c', cluster: { ...cluster, 'proxy-url': proxy, 'tls-server-name': 'api' } }],
  users: [{ name: 'u', user: { token: 'token-of-a-service-account', 'client-key-data': 'a2V5' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
});

async function optionsOf(Config: typeof KubeConfig, given: unknown) {
  const config = new Config();
  config.loadFromString(JSON.stringify(given));
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { agent, ...others } = options;
  return { ...others, agent: agent?.constructor.name };
}

it.each(['http://proxy.example:3128', 'https://proxy.example:3129', 'socks5://proxy.example:1080'])(
  'what the build has left of the Kubernetes library asks through %s as the whole library does',
  async (proxy) => {
    // A bundle: nothing is loaded from the library any more.
    expect(readFileSync(built, 'utf8')).not.toMatch(/from ["']@kubernetes\/client-node["']/);
    const left = (await import(built)) as { readonly KubeConfig: typeof KubeConfig };
    const whole = await optionsOf(KubeConfig, through(proxy));
    expect(whole.agent).toMatch(/ProxyAgent/);
    expect(await optionsOf(left.KubeConfig, through(proxy))).toEqual(whole);
  },
);
