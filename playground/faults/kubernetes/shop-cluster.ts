import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import { writeStateFile } from '../../../src/infra/process/state-file.ts';
import { type Cluster, startCluster } from '../../kubernetes/cluster.ts';

/** Where the shop's workloads are. Its search has a namespace of its own, because that has a quota. */
export const namespaces = ['shop', 'shop-search'] as const;

export interface ShopCluster {
  readonly cluster: Cluster;
  /** Of the account that may change something. */
  readonly kubeconfigFile: string;
  stop(): Promise<void>;
}

/** Starts the cluster with the shop in it, all of it well. It keeps its address and credentials, and nothing else. */
export async function startShopCluster(dir: string): Promise<ShopCluster> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const cluster = await startCluster({ accessFile: join(dir, 'access.json') });
  const kubeconfigFile = join(dir, 'kubeconfig');
  writeStateFile(kubeconfigFile, cluster.kubeconfig('act'));
  await applyShop(cluster);
  return { cluster, kubeconfigFile, stop: () => cluster.stop() };
}

/** The parts of a workload that its faults change. */
export interface Workload {
  readonly name: string;
  readonly namespace: (typeof namespaces)[number];
  readonly replicas: number;
  readonly image: string;
  readonly env?: readonly object[];
}

const PAYMENTS_CONFIG = 'payments';

export const workloads = {
  checkout: { name: 'checkout', namespace: 'shop', replicas: 3, image: 'shop/checkout:2.4.0' },
  orders: {
    name: 'orders',
    namespace: 'shop',
    replicas: 2,
    image: 'shop/orders:3.1.0-needsPAYMENTS_URL',
    env: [{ name: 'PAYMENTS_URL', value: 'http://payments.shop:8080' }],
  },
  payments: {
    name: 'payments',
    namespace: 'shop',
    replicas: 2,
    image: 'shop/payments:1.8.0',
    env: [fromConfig('PROVIDER', 'provider')],
  },
  search: { name: 'search', namespace: 'shop-search', replicas: 2, image: 'shop/search:4.2.0' },
} as const satisfies Record<string, Workload>;

/** A variable from the config map of the payments. */
export function fromConfig(name: string, key: string): object {
  return { name, valueFrom: { configMapKeyRef: { name: PAYMENTS_CONFIG, key } } };
}

export async function applyShop(cluster: Cluster): Promise<void> {
  for (const name of namespaces)
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await cluster.apply(
    namespaced('v1', 'ConfigMap', 'shop', PAYMENTS_CONFIG, {
      data: { provider: 'sandbox', timeout_ms: '2000' },
    }),
    namespaced('v1', 'ResourceQuota', 'shop-search', 'search', { spec: { hard: { pods: '3' } } }),
  );
  for (const workload of Object.values(workloads)) await cluster.apply(deployment(workload));
}

const namespaced = (apiVersion: string, kind: string, namespace: string, name: string, fields: object) =>
  ({ apiVersion, kind, metadata: { name, namespace }, ...fields }) as KubernetesObject;

/** A rollout of it that does not get on is given up after a minute of the cluster. */
export function deployment({ name, namespace, replicas, image, env = [] }: Workload): KubernetesObject {
  const labels = { app: name };
  const resources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } };
  return namespaced('apps/v1', 'Deployment', namespace, name, {
    spec: {
      replicas,
      progressDeadlineSeconds: 60,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'app', image, env, resources, ports: [{ containerPort: 8080 }] }] },
      },
    },
  });
}
