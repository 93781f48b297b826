import { writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { parseTargets } from '../../../../src/config/targets.ts';
import { adviseKubernetes } from '../../../../src/targets/kubernetes/advise.ts';
import type { Right } from '../../../../src/targets/kubernetes/cluster.ts';
import { faultOf } from '../../../../src/targets/kubernetes/connect/fault.ts';
import { loadKubeconfig } from '../../../../src/targets/kubernetes/connect/kubeconfig.ts';
import { kubernetes } from '../../../../src/targets/kubernetes/kind.ts';
import { quantity } from '../../../../src/targets/kubernetes/quantity.ts';
import { selectorText, selects } from '../../../../src/targets/kubernetes/workload.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const kubeconfig = (cluster: object, user: object, context?: string) =>
  loadKubeconfig({
    path: '/etc/sentry/kubeconfig',
    text: JSON.stringify({
      'current-context': 'shop',
      clusters: [{ name: 'c', cluster: { server: 'https://k8s.example.com', ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'shop', context: { cluster: 'c', user: 'u' } }],
    }),
    context,
  });

test('a kubeconfig with a token is taken, whichever context is named', async () => {
  expect((await kubeconfig({}, { token: 'well-known' })).getCurrentContext()).toBe('shop');
  await expect(kubeconfig({}, { token: 'well-known' }, 'other')).rejects.toMatchObject({
    code: 'KUBERNETES_KUBECONFIG',
    message: '/etc/sentry/kubeconfig: it has no whole context "other"',
  });
});

test.each([
  [
    'runs a program for its credential',
    {},
    { exec: { command: '/bin/sh', apiVersion: 'v1' } },
    'does not run',
  ],
  ['uses a login service', {}, { 'auth-provider': { name: 'gcp', config: {} } }, 'does not run'],
  ['is not reached by https', { server: 'http://k8s.example.com' }, { token: 't' }, 'https'],
  ['does not verify its server', { 'insecure-skip-tls-verify': true }, { token: 't' }, 'does not verify'],
  ['acts as somebody else', {}, { token: 't', as: 'admin' }, 'acts as somebody else'],
  ['acts for a group', {}, { token: 't', 'as-groups': ['system:masters'] }, 'acts as somebody else'],
  [
    'is sent through a proxy to what only sounds like this machine',
    {
      server: 'http://localhost:8080',
      'proxy-url': 'http://proxy.example.com',
      'insecure-skip-tls-verify': true,
    },
    { token: 't' },
    'https',
  ],
])('a kubeconfig that %s is refused with the reason', async (_, cluster, user, reason) => {
  await expect(kubeconfig(cluster, user)).rejects.toThrow(reason);
});

test.each([
  ['a line that is cut off', 'users:\n- name: u\n  user: {token: "hunter2'],
  ['a key that is there twice', 'users: []\ntoken: hunter2\ntoken: hunter2'],
  ['a tab', 'users:\n\t- hunter2: {'],
  ['no object', 'hunter2'],
  ['a server with a password', 'https://sentry:hunter2@k8s.example.com'],
  ['a server that is no address', 'hunter2://:hunter2:x'],
])('nothing of a kubeconfig is told: %s', async (_, text) => {
  const isServer = text.includes('://');
  const failed = await (isServer
    ? kubeconfig({ server: text }, { token: 'hunter2' })
    : loadKubeconfig({ path: '/etc/sentry/kubeconfig', text, context: undefined })
  ).then(
    () => null,
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ code: 'KUBERNETES_KUBECONFIG' });
  expect(inspect(failed, { depth: 9 })).not.toContain('hunter2');
});

test('a token in a file is read whenever it is used', async () => {
  const folder = scratchDir();
  const path = join(folder, 'kubeconfig');
  const text = JSON.stringify({
    'current-context': 'shop',
    clusters: [{ name: 'c', cluster: { server: 'https://k8s.example.com' } }],
    users: [{ name: 'u', user: { tokenFile: 'token', token: 'older' } }],
    contexts: [{ name: 'shop', context: { cluster: 'c', user: 'u' } }],
  });
  const config = await loadKubeconfig({ path, text, context: undefined });
  for (const token of ['one', 'two']) {
    writeFileSync(join(folder, 'token'), `${token}\n`);
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    expect(options.headers).toMatchObject({ Authorization: `Bearer ${token}` });
  }
});

test.each([
  [{}, 'does not run in a cluster'],
  [{ context: 'shop' }, 'belongs to a kubeconfig_file'],
  [{ kubeconfig_file: '/nowhere/config' }, '/nowhere/config'],
  [{ kubeconfig_file: 'config' }, 'absolute path'],
  [{ namespaces: [] }, 'at least one namespace'],
  [{ namespaces: ['*'] }, 'name of a namespace'],
])('an entry with %j is refused', (fields, reason) => {
  const entry = { name: 'prod', kind: 'kubernetes', namespaces: ['shop'], ...fields };
  expect(() => parseTargets({ targets: [entry] }, {}, 'sentry.yaml', [kubernetes])).toThrow(reason);
});

test('what may not be read is advised as the very rule that is missing', () => {
  const asked = {
    verb: 'list',
    what: 'deployments of shop',
    right: { verb: 'list', group: 'apps', resource: 'deployments', namespace: 'shop' },
  } as const;
  const { code, message } = faultOf(403, '{"kind":"Status","message":"no"}', asked);
  const advice = adviseKubernetes({
    code,
    tool: 'kubernetes_workloads',
    target: 'prod',
    input: {},
    result: null,
    output: message,
  });
  expect(code).toBe('KUBERNETES_FORBIDDEN');
  expect(advice).toMatchObject({
    way: 'grant',
    steps: {
      exact:
        '# Role in namespace shop\n- apiGroups: ["apps"]\n  resources: ["deployments"]\n  verbs: ["list"]',
    },
  });
});

test.each<[Right, string]>([
  [{ verb: 'get', group: '', resource: 'pods/log', namespace: 'shop' }, '"pods/log"'],
  [{ verb: 'get', group: '', resource: 'nodes', namespace: null }, 'ClusterRole'],
  [{ verb: 'get', group: 'policy', resource: 'poddisruptionbudgets', namespace: 'a' }, '["policy"]'],
])('a rule for %j', (right, part) => {
  const { code, message } = faultOf(403, 'no', { verb: 'get', what: 'it', right });
  const advice = adviseKubernetes({
    code,
    tool: 't',
    target: 'prod',
    input: {},
    result: null,
    output: message,
  });
  expect(JSON.stringify(advice)).toContain(JSON.stringify(part).slice(1, -1));
});

test.each([
  ['250m', 0.25],
  ['1.5', 1.5],
  ['512Mi', 536_870_912],
  ['1G', 1_000_000_000],
  ['1e3', 1_000],
  ['12345678n', 0.012345678],
  ['lots', null],
  [undefined, null],
])('the quantity %s', (text, value) => {
  expect(quantity(text)).toBe(value);
});

test('a selector asks for what it selects', () => {
  const selector = {
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'NotIn', values: ['cache', 'db'] },
      { key: 'canary', operator: 'DoesNotExist' },
    ],
  };
  expect(selectorText(selector)).toBe('app=web,tier notin (cache,db),!canary');
  expect(selects(selector, { app: 'web', tier: 'front' })).toBe(true);
  // As the API decides it: what has no such label is not in the list either.
  expect(selects(selector, { app: 'web' })).toBe(true);
  expect(selects(selector, { app: 'web', tier: 'db' })).toBe(false);
  expect(selects(selector, { app: 'web', canary: '' })).toBe(false);
  expect(selects(selector, { app: 'shop' })).toBe(false);
});

test.each([
  [404, '404 page not found', 'KUBERNETES_NOT_SERVED'],
  [
    404,
    '{"kind":"Status","message":"the server could not find the requested resource"}',
    'KUBERNETES_NOT_SERVED',
  ],
  [404, '{"kind":"Status","message":"pods \\"web\\" not found"}', 'KUBERNETES_NOT_FOUND'],
  [503, 'upstream', 'KUBERNETES_503'],
])('an answer of %i with %s is %s', (status, body, code) => {
  expect(faultOf(status, body, { verb: 'get', what: 'it' }).code).toBe(code);
});
