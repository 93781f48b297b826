import type { V1Container, V1Deployment, V1PodSpec } from '@kubernetes/client-node';
import type { Cluster } from '../../playground/kubernetes/cluster.ts';

/** The namespace in which the tests' workloads live. */
export const SHOP = 'shop';

interface Wishes {
  readonly replicas?: number;
  readonly container?: Partial<V1Container>;
  readonly pod?: Partial<V1PodSpec>;
  readonly spec?: Partial<V1Deployment['spec']>;
}

/** A deployment of one container, `app`; how it behaves is told by its image's tag. */
export function deployment(name: string, image: string, wishes: Wishes = {}): V1Deployment {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: SHOP, labels },
    spec: {
      replicas: wishes.replicas ?? 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'app', image, ...wishes.container }], ...wishes.pod },
      },
      ...wishes.spec,
    },
  };
}

export const applyShop = (cluster: Cluster): Promise<void> =>
  cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } });
