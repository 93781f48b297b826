import { z } from 'zod';
import { count } from '../../../core/count.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { more, withoutBreaks } from '../../format.ts';
import { podLine } from '../describe.ts';
import type { Pod, Workload } from '../objects.ts';
import { isIll, isInTheWay, type PodState, podState } from '../pod-state.ts';
import { allInCare, type KubernetesSystem, kubernetesTool, namespaceName } from '../tool.ts';
import { hasStalled, ownPods, podStates, replicasOf, type WorkloadKind, workloadKinds } from '../workload.ts';

const MOST_PODS = 20;

/**
 * Workloads and what is wrong with their pods. Data: `{ workloads: [{ kind, namespace, name, desired, ready, available, updated,
 * paused, healthy, says, ill_pods }], others: [pod and namespace], total, unhealthy, complete }`, those in trouble
 * first. `others`: pods in trouble of no workload (of jobs, or bare).
 */
export const listWorkloads = kubernetesTool.read({
  name: 'kubernetes_workloads',
  description:
    'Deployments, stateful sets and daemon sets with desired and available replicas and the pods that are in trouble, the worst first. The first look when it is not known what is ill.',
  kind: 'read',
  input: z.strictObject({
    namespace: namespaceName,
    name: z.string().min(1).max(100).optional().describe('Only those whose name contains it.'),
    limit: z.number().int().min(1).max(200).default(50),
  }),
  timeoutMs: 20_000,
  rules: (context, input) => allInCare(context, input),
  async run(context, { namespace, name, limit }) {
    const { namespaces } = context.system;
    const read = await Promise.all(
      (namespace === undefined ? namespaces : [namespace]).map((each) => readNamespace(context, each)),
    );
    const all = read
      .flatMap(({ workloads }) => workloads)
      .filter((each) => name === undefined || each.data.name.includes(name))
      .toSorted(
        (a, b) => Number(a.data.healthy) - Number(b.data.healthy) || (a.data.name < b.data.name ? -1 : 1),
      );
    const others = name === undefined ? read.flatMap(({ others: own }) => own) : [];
    const isComplete = read.every((each) => each.isComplete);
    const shown = all.slice(0, limit);
    const unhealthy = all.filter(({ data }) => !data.healthy).length;
    const pods = [...shown.flatMap(({ ill }) => ill), ...others.map(({ pod }) => pod)];
    return {
      text: [
        `${count(all.length, 'workload')}, ${unhealthy} of them unhealthy.${isComplete ? '' : ' There are more pods than were read.'}`,
        ...shown.map(({ data }) =>
          withoutBreaks(`${data.namespace} ${data.kind}/${data.name}: ${data.says}`),
        ),
        ...more(all.length, shown.length),
        ...(pods.length === 0 ? [] : ['Pods in trouble:']),
        ...pods.slice(0, MOST_PODS).map(podLine),
        ...more(pods.length, MOST_PODS),
      ].join('\n'),
      data: {
        workloads: shown.map(({ data }) => data),
        others: others.slice(0, MOST_PODS).map(({ namespace: where, pod }) => ({ namespace: where, ...pod })),
        total: all.length,
        unhealthy,
        complete: isComplete,
      },
    };
  },
});

interface Context extends SessionOptions {
  readonly system: KubernetesSystem;
}

async function readNamespace(context: Context, namespace: string) {
  const { cluster } = context.system;
  const [pods, sets, ...lists] = await Promise.all([
    cluster.list<Pod>('pod', { namespace }, context),
    cluster.list<Workload>('replicaset', { namespace }, context),
    ...workloadKinds.map((kind) => cluster.list<Workload>(kind, { namespace }, context)),
  ]);
  const now = Date.now();
  const workloads = lists.flatMap(({ items }, at) => {
    const kind = workloadKinds[at] ?? 'deployment';
    return items.map((workload) => seen(kind, workload, ownPods(workload, sets.items, pods.items), now));
  });
  const owned = new Set(workloads.flatMap(({ names }) => names));
  const others = pods.items
    .filter((pod) => !owned.has(pod.metadata.name))
    .map((pod) => podState(pod, now))
    .filter(isIll)
    .map((pod) => ({ namespace, pod }));
  return { workloads, others, isComplete: [pods, sets, ...lists].every((each) => each.isComplete) };
}

function seen(kind: WorkloadKind, workload: Workload, pods: readonly Pod[], now: number) {
  const replicas = replicasOf(kind, workload);
  const isStalled = hasStalled(workload);
  const isWhole = replicas.available >= replicas.desired;
  const ill = podStates({ pods, isStalled }, now).filter((pod) => isInTheWay(pod, isWhole));
  const healthy = isWhole && ill.length === 0 && !isStalled;
  const paused = workload.spec.paused === true;
  return {
    ill,
    names: pods.map(({ metadata }) => metadata.name),
    data: {
      kind,
      namespace: workload.metadata.namespace ?? '',
      name: workload.metadata.name,
      ...replicas,
      paused,
      healthy,
      says: [
        `${replicas.available} of ${replicas.desired} available`,
        ...(replicas.updated < replicas.desired ? [`${replicas.updated} of the newest revision`] : []),
        ...(paused ? ['its rollout is paused'] : []),
        ...(isStalled ? ['its rollout is stalled'] : []),
        ...troublesOf(ill),
      ].join(', '),
      ill_pods: ill.length,
    },
  };
}

/** `2 CrashLoopBackOff`, each state once. */
function troublesOf(ill: readonly PodState[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { state } of ill) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, times]) => `${times} ${state}`);
}
