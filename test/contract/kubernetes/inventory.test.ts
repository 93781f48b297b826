import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OpsError } from '../../../src/core/errors.ts';
import type { Inventory } from '../../../src/core/inventory.ts';
import type { Cluster, ObjectRef } from '../../../src/targets/kubernetes/cluster.ts';
import { kubernetes } from '../../../src/targets/kubernetes/kind.ts';
import { inventoryChanges, titlesOf } from '../../support/inventory-changes.ts';
import { type StillCluster, startStillCluster } from './still-cluster.ts';

type Fields = Readonly<Record<string, unknown>>;

let still: StillCluster;
let on: ReturnType<StillCluster['connect']>;

beforeAll(async () => {
  still = await startStillCluster();
  on = still.connect();
  await still.node('node-1');
});
afterAll(async () => {
  // What it looks at is not a secret.
  expect(still.cluster.requests().filter(({ path }) => path.includes('secrets'))).toEqual([]);
  await still.stop();
});

const look = async (from = on): Promise<Inventory> => {
  if (!kubernetes.inventory) throw new Error('no inventory');
  return kubernetes.inventory(from.system, new AbortController().signal);
};
const changesBy = async (does: () => Promise<unknown>) => {
  const before = await look();
  await does();
  return inventoryChanges(before, await look());
};
const within = { signal: new AbortController().signal, timeoutMs: 10_000 };
async function remove(ref: ObjectRef): Promise<void> {
  const { cluster } = still.connect({}, 'admin').system;
  const { metadata } = await cluster.get(ref, within);
  await cluster.remove(ref, { uid: metadata.uid }, within);
}
/** The same with other answers to lists. */
const listing = (list: Cluster['list']) => ({
  ...on,
  system: { ...on.system, cluster: { ...on.system.cluster, list } },
});
const titles = async (does: () => Promise<unknown>) => titlesOf(await changesBy(does));

const container = (fields: Fields = {}) => ({
  name: 'app',
  image: 'shop/orders:1.2',
  env: [
    { name: 'PAYMENTS_URL', value: 'http://payments:8080' },
    { name: 'API_TOKEN', value: 'hunter2hunter2' },
    { name: 'PROVIDER', valueFrom: { configMapKeyRef: { name: 'settings', key: 'provider' } } },
  ],
  resources: { limits: { memory: '256Mi' } },
  ...fields,
});
const spec = (fields: Fields = {}, more: Fields = {}) => ({ containers: [container(fields)], ...more });
const settings = (data: Fields) =>
  still.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'shop' },
    data,
  });

describe('a workload', () => {
  test('a new image is a deployment, since its ReplicaSet was made, of this workload', async () => {
    await still.deployment('orders', [spec()]);
    const [changed, ...none] = await changesBy(() =>
      still.deployment('orders', [spec(), spec({ image: 'shop/orders:1.3' })]),
    );
    expect(none).toEqual([]);
    const { metadata } = still.stored('ReplicaSet', 'orders-5d4f6c7b81');
    expect(changed).toMatchObject({
      title: 'image of orders on shop: shop/orders:1.2 → shop/orders:1.3',
      kind: 'deployment',
      where: ['shop', 'orders', 'shop/orders'],
      at: new Date(metadata.creationTimestamp).toISOString(),
      from: 'shop/orders:1.2',
      to: 'shop/orders:1.3',
    });
  });

  test('who wrote its template, and when, where the server says so', async () => {
    await still.deployment('signed', [spec()]);
    const before = await look();
    await still.deployment('signed', [spec(), spec({ image: 'shop/orders:1.3' })]);
    const fields = { 'f:spec': { 'f:template': { 'f:spec': {} } } };
    const list: Cluster['list'] = async (kind, ...asked) => {
      const read = await on.system.cluster.list<any>(kind, ...asked);
      const managedFields = [
        { manager: 'helm', time: '2026-11-26T09:00:00Z', fieldsV1: fields },
        { manager: 'kubectl-edit', time: '2026-11-26T10:00:00Z', fieldsV1: fields },
        {
          manager: 'kube-controller-manager',
          time: '2026-11-26T10:01:00Z',
          subresource: 'status',
          fieldsV1: { 'f:status': {} },
        },
      ];
      return {
        ...read,
        items: read.items.map((each) => ({ ...each, metadata: { ...each.metadata, managedFields } })),
      };
    };
    const after = await look(listing(list));
    expect(inventoryChanges(before, after)).toMatchObject([
      { by: 'kubectl-edit', at: '2026-11-26T10:00:00.000Z' },
    ]);
  });

  test('a rollout back is one, and not as old as the ReplicaSet that it takes up again', async () => {
    await still.deployment('back', [spec(), spec({ image: 'shop/orders:1.3' })]);
    const before = await look();
    await still.deployment('back', [spec(), spec({ image: 'shop/orders:1.3' }), spec()]);
    const made: string[] = [];
    for (const name of ['back-5d4f6c7b80', 'back-5d4f6c7b82']) {
      const { metadata, ...set } = still.stored('ReplicaSet', name);
      const annotations = { ...metadata.annotations, 'deployment.kubernetes.io/revision-history': '1' };
      await still.apply({ ...set, metadata: { ...metadata, annotations } });
      made.push(new Date(metadata.creationTimestamp).toISOString());
    }
    const [changed] = inventoryChanges(before, await look());
    expect(changed).toMatchObject({ kind: 'rollback', from: 'shop/orders:1.3', to: 'shop/orders:1.2' });
    expect(made).not.toContain(changed?.at);
  });

  test('variables and limits by their names; of a secret only that it is another one', async () => {
    await still.deployment('config', [spec()]);
    expect(JSON.stringify(await look())).not.toContain('hunter2');
    const env = [
      { name: 'PAYMENTS_URL', value: '' },
      { name: 'API_TOKEN', value: 'hunter3hunter3' },
      { name: 'PROVIDER', valueFrom: { configMapKeyRef: { name: 'settings', key: 'vendor' } } },
    ];
    const before = await look();
    expect(await titles(() => still.deployment('config', [spec(), spec({ env: env.slice(0, 1) })]))).toEqual([
      'PAYMENTS_URL of config on shop: http://payments:8080 → empty, variables API_TOKEN, PAYMENTS_URL, PROVIDER → PAYMENTS_URL',
    ]);
    await still.deployment('config', [spec(), spec({ env })]);
    expect(titlesOf(inventoryChanges(before, await look()))).toEqual([
      'API_TOKEN of config on shop was changed, PAYMENTS_URL http://payments:8080 → empty, PROVIDER key provider of config map settings → key vendor of config map settings',
    ]);
    expect(
      await titles(() =>
        still.deployment('config', [spec(), spec({ env, resources: { limits: { memory: '64Mi' } } })]),
      ),
    ).toEqual([
      'resources of config on shop: memory 256Mi requested, memory at most 256Mi → memory 64Mi requested, memory at most 64Mi',
    ]);
    const probe = { httpGet: { path: '/ready', port: 8080 } };
    expect(
      await titles(() =>
        still.deployment('config', [
          spec(),
          spec({ env, resources: { limits: { memory: '64Mi' } }, readinessProbe: probe }),
        ]),
      ),
    ).toEqual(['pod template of config on shop was changed']);
  });

  test('a restart by a rollout is told as that; pods that come, go and die are no change', async () => {
    await still.deployment('pods', [spec()]);
    expect(
      await titles(async () => {
        await still.pod('pods', 1, 'aaaaa');
        await still.pod('pods', 1, 'bbbbb');
      }),
    ).toEqual([]);
    const stored = still.stored('Deployment', 'pods');
    const template = { ...stored.spec.template };
    template.metadata = {
      ...template.metadata,
      annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-11-26T10:00:00Z' },
    };
    expect(await titles(() => still.apply({ ...stored, spec: { ...stored.spec, template } }))).toEqual([
      'pods of pods on shop were restarted by a rollout',
    ]);
  });

  test('scaling is a change where people do it, and none where an autoscaler does', async () => {
    await still.deployment('scaled', [spec()], { replicas: 2 });
    expect(await titles(() => still.deployment('scaled', [spec()], { replicas: 5 }))).toEqual([
      'replicas of scaled on shop: 2 → 5',
    ]);
    const autoscaler = (most: number) => ({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'scaled', namespace: 'shop' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'scaled' },
        minReplicas: 2,
        maxReplicas: most,
        metrics: [],
      },
    });
    await still.apply(autoscaler(8));
    expect(await titles(() => still.deployment('scaled', [spec()], { replicas: 8 }))).toEqual([]);
    expect(await titles(() => still.apply(autoscaler(12)))).toEqual([
      expect.stringMatching(/^autoscaler scaled of shop: 2 to 8 replicas .*→ 2 to 12 replicas/),
    ]);
  });

  test('one that is new and one that is deleted', async () => {
    expect(await titles(() => still.deployment('fresh', [spec()]))).toEqual([
      'deployment fresh of shop was created',
    ]);
    expect(await titles(() => remove({ kind: 'deployment', namespace: 'shop', name: 'fresh' }))).toEqual([
      'deployment fresh of shop was deleted',
    ]);
  });
});

test('a config map is a change of those who use it, too, and its values stay in the cluster', async () => {
  await settings({ provider: 'sandbox-value', timeout_ms: '2000' });
  await still.deployment('user', [spec()]);
  expect(JSON.stringify(await look())).not.toContain('sandbox-value');
  const [changed, ...none] = await changesBy(() => settings({ timeout_ms: '2000' }));
  expect(none).toEqual([]);
  expect(changed?.where).toEqual(expect.arrayContaining(['shop', 'settings', 'user']));
  expect(changed).toMatchObject({
    kind: 'config',
    title: expect.stringContaining('config map settings of shop: provider, timeout_ms'),
  });
});

test('nodes that join, leave and are cordoned', async () => {
  expect(await titles(() => still.node('node-9'))).toEqual(['node node-9 of shop joined']);
  const node = still.stored('Node', 'node-9', null);
  expect(await titles(() => still.apply({ ...node, spec: { unschedulable: true } }))).toEqual([
    expect.stringMatching(/^node node-9 of shop: .* → .*cordoned$/),
  ]);
  expect(await titles(() => remove({ kind: 'node', name: 'node-9' }))).toEqual(['node node-9 of shop left']);
});

test('other namespaces are not looked at', async () => {
  await still.deployment('foreign', [spec()], { namespace: 'other' });
  expect(JSON.stringify(await look())).not.toContain('foreign');
});

describe('what cannot be read', () => {
  test('is unread by its part, and nothing of it is gone', async () => {
    await settings({ provider: 'sandbox' });
    const before = await look();
    const seen = await look(
      listing(async (kind, ...asked) => {
        if (kind === 'configmap' || kind === 'horizontalpodautoscaler')
          throw new OpsError('KUBERNETES_FORBIDDEN', 'Sentry may not', { hint: 'Grant it.' });
        return on.system.cluster.list(kind, ...asked);
      }),
    );
    expect(seen.unread.map(({ part }) => part).toSorted()).toEqual([
      'configmaps in shop',
      'horizontalpodautoscalers in shop',
      'replicas in shop',
    ]);
    expect(inventoryChanges(before, seen)).toEqual([]);
    expect((await look()).unread).toEqual([]);
  });

  test('a cluster that does not answer has no inventory', async () => {
    const gone = await startStillCluster();
    const there = gone.connect();
    await gone.stop();
    await expect(look(there as never)).rejects.toMatchObject({ code: 'KUBERNETES_AWAY' });
  });
});
