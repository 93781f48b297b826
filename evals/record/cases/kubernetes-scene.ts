import type { KubernetesObject, V1Deployment, V1Pod } from '@kubernetes/client-node';
import { until } from '../../../playground/faults/until.ts';
import { type Cluster, startCluster } from '../../../playground/kubernetes/cluster.ts';
import type { FaultCase, Look } from '../fault-case.ts';
import { type Neighbour, neighboursOf } from '../neighbours.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The parts of a workload that cases differ in. */
export interface Wanted {
  readonly kind?: 'Deployment' | 'StatefulSet' | 'DaemonSet';
  readonly image: string;
  readonly replicas?: number;
  readonly container?: Fields;
  readonly pod?: Fields;
}

/** A cluster of the playground in which a case brings something about, in one namespace. */
export interface Scene {
  readonly cluster: Cluster;
  readonly namespace: string;
  apply(object: Fields): Promise<void>;
  /** Creates it, or rolls it out anew, and waits until its controller has seen that. */
  roll(name: string, wanted: Wanted): Promise<void>;
  pods(name: string): readonly V1Pod[];
  whole(name: string): Promise<void>;
  /** Some container of its pods waits for this reason. */
  waits(name: string, reason: string): Promise<void>;
  until(what: string, holds: () => boolean): Promise<void>;
}

export interface KubernetesCase extends Omit<FaultCase, 'cause' | 'alert'> {
  readonly namespace: string;
  /** Workloads that are well, by name and image: what else there is. */
  readonly beside: Readonly<Record<string, string>>;
  readonly alert: readonly [alertname: string, summary: string, labels: Readonly<Record<string, string>>];
  readonly severity?: 'critical' | 'warning';
  cause(scene: Scene): Promise<void>;
}

export const why = (namespace: string, name: string): Look => ({
  tool: 'kubernetes_why_unhealthy',
  input: { namespace, name },
});
export const limits = (namespace: string): Look => ({ tool: 'kubernetes_limits', input: { namespace } });

/** Cases as they are recorded: each in a cluster of its own, with other work in a namespace beside. */
export const inClusters = (cases: readonly KubernetesCase[]): readonly FaultCase[] =>
  cases.map(
    ({ namespace, beside, alert: [alertname, summary, labels], severity = 'warning', cause, ...rest }) => ({
      ...rest,
      looks: [...(rest.looks ?? []), { tool: 'kubernetes_events', input: { namespace, limit: 15 } }],
      alert: {
        alertname,
        severity,
        summary,
        description: 'Seen by kube-state-metrics.',
        labels: { namespace, ...labels },
      },
      async cause() {
        const [next, ...others] = neighboursOf(rest.id, 9) as readonly [Neighbour, ...Neighbour[]];
        const cluster = await startCluster({ nodes: 3 + (next.size % 3) });
        await populate(sceneIn(cluster, next.name), others);
        const scene = sceneIn(cluster, namespace);
        await scene.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
        for (const [name, image] of Object.entries(beside)) {
          await scene.roll(name, { image, replicas: 1 });
          await scene.whole(name);
        }
        await cause(scene);
        const kubeconfig = { path: 'kubeconfig', text: cluster.kubeconfig('read'), context: undefined };
        return {
          cluster: { kubeconfig, namespaces: [namespace, next.name] },
          release: () => cluster.stop(),
        };
      },
    }),
  );

async function populate(scene: Scene, workloads: readonly Neighbour[]): Promise<void> {
  const { namespace, apply, roll, whole } = scene;
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await Promise.all(
    workloads.map(async ({ name, version, size }) => {
      await roll(name, { image: `${namespace}/${name}:${version}`, replicas: 1 + (size % 3) });
      await whole(name);
    }),
  );
}

export function sceneIn(cluster: Cluster, namespace: string): Scene {
  const apply: Scene['apply'] = (object) => cluster.apply(object as unknown as KubernetesObject);
  const pods: Scene['pods'] = (name) =>
    (cluster.list('Pod', namespace) as readonly V1Pod[]).filter(
      ({ metadata }) => metadata?.labels?.['app'] === name,
    );
  const seen: Scene['until'] = (what, holds) => until(what, async () => holds());
  return {
    cluster,
    namespace,
    apply,
    pods,
    until: seen,
    async roll(name, { kind = 'Deployment', image, replicas = 2, container = {}, pod = {} }) {
      const labels = { app: name };
      await apply({
        apiVersion: 'apps/v1',
        kind,
        metadata: { name, namespace },
        spec: {
          ...(kind === 'DaemonSet' ? {} : { replicas }),
          ...(kind === 'Deployment' ? { progressDeadlineSeconds: 60 } : {}),
          ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { ...pod, containers: [{ name: 'app', image, ...container }] },
          },
        },
      });
      await seen(`the controller of ${name} sees it`, () => {
        const { metadata, status } = cluster.object(kind, namespace, name) as V1Deployment;
        return status?.observedGeneration === metadata?.generation;
      });
    },
    whole: (name) =>
      seen(`${name} is whole`, () => {
        const { spec, status } = cluster.object('Deployment', namespace, name) as V1Deployment;
        return (
          status?.availableReplicas === spec?.replicas &&
          status?.updatedReplicas === spec?.replicas &&
          status?.replicas === spec?.replicas
        );
      }),
    waits: (name, reason) =>
      seen(`${name} waits: ${reason}`, () =>
        pods(name).some(({ status }) =>
          status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === reason),
        ),
      ),
  };
}

export const quota = (namespace: string, name: string, hard: Readonly<Record<string, string>>): Fields => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name, namespace },
  spec: { hard },
});

export const service = (
  namespace: string,
  name: string,
  selector: Readonly<Record<string, string>>,
): Fields => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { selector, ports: [{ port: 80, targetPort: 8080 }] },
});

export const wasKilledForMemory = (pods: readonly V1Pod[]): boolean =>
  pods.some(({ status }) =>
    status?.containerStatuses?.some(({ lastState }) => lastState?.terminated?.reason === 'OOMKilled'),
  );

export const isPending = (pods: readonly V1Pod[]): boolean =>
  pods.some(({ status }) => status?.conditions?.some(({ reason }) => reason === 'Unschedulable'));

export const failsToMake = (cluster: Cluster, namespace: string, name: string): boolean =>
  condition(cluster.object('Deployment', namespace, name), 'ReplicaFailure') === 'True';

export function condition(object: KubernetesObject | undefined, type: string): string | undefined {
  const { status } = (object ?? {}) as {
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  };
  return status?.conditions?.find((each) => each.type === type)?.status;
}

export async function behave(
  apply: Scene['apply'],
  cluster: Cluster,
  node: string,
  behaviour: string,
): Promise<void> {
  const { status: _, ...rest } = cluster.object('Node', null, node) as unknown as Fields & {
    readonly metadata: Fields & { readonly annotations?: Fields };
  };
  const annotations = { ...rest.metadata.annotations, 'playground.sentry/behaviour': behaviour };
  await apply({ ...rest, metadata: { ...rest.metadata, annotations } });
}
