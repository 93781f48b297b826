import { withoutBreaks } from '../format.ts';
import type { ResourceKind } from './cluster.ts';
import { conditionOf, nodeTroubles } from './describe.ts';
import type {
  Autoscaler,
  ConfigMap,
  DisruptionBudget,
  Endpoints,
  KubernetesObject,
  NetworkPolicy,
  Node,
  Pod,
  Quota,
  Service,
  Workload,
} from './objects.ts';
import { podState } from './pod-state.ts';
import { quantity } from './quantity.ts';
import { replicasOf, selectorText } from './workload.ts';

type Summary = (object: never, now: number) => string;

/** A few words about an object, as `kubectl get` has in its columns. */
const summaries: Partial<Record<ResourceKind, Summary>> = {
  pod: (pod: Pod, now) => {
    const { state, restarts, node } = podState(pod, now);
    return `${state}${restarts > 0 ? `, started again ${restarts} times` : ''}${node === null ? '' : `, on ${node}`}`;
  },
  deployment: (workload: Workload) => replicasText(replicasOf('deployment', workload)),
  statefulset: (workload: Workload) => replicasText(replicasOf('statefulset', workload)),
  daemonset: (workload: Workload) => replicasText(replicasOf('daemonset', workload)),
  replicaset: ({ spec, status }: Workload) => `${status?.readyReplicas ?? 0} of ${spec.replicas ?? 1} ready`,
  node: (node: Node) => nodeTroubles(node).join('; ') || 'Ready',
  service: ({ spec }: Service) =>
    `${spec.type ?? 'ClusterIP'} ${(spec.ports ?? []).map(({ port, targetPort }) => `${port}→${targetPort ?? port}`).join(', ')}, selects ${selectorText({ matchLabels: spec.selector ?? {} }) || 'nothing'}`,
  endpoints: (endpoints: Endpoints) => {
    const { ready, notReady } = addressesOf(endpoints);
    return `${ready.length} ready, ${notReady.length} not ready`;
  },
  horizontalpodautoscaler: (autoscaler: Autoscaler) => autoscalerText(autoscaler),
  poddisruptionbudget: (budget: DisruptionBudget) => budgetText(budget),
  resourcequota: (quota: Quota) =>
    quotaUse(quota)
      .map(({ resource, used, hard }) => `${resource} ${used} of ${hard}`)
      .join(', '),
  networkpolicy: ({ spec }: NetworkPolicy) =>
    `${(spec.policyTypes ?? ['Ingress']).join(' and ')} of ${selectorText(spec.podSelector) || 'all pods'}`,
  configmap: ({ data, binaryData }: ConfigMap) =>
    `keys: ${[...Object.keys(data ?? {}), ...Object.keys(binaryData ?? {})].join(', ') || 'none'}`,
};

export function summaryOf(kind: ResourceKind, object: KubernetesObject, now: number): string {
  const summary = summaries[kind] as ((object: KubernetesObject, now: number) => string) | undefined;
  const phase = (object as { readonly status?: { readonly phase?: string } }).status?.phase ?? '';
  return withoutBreaks(summary?.(object, now) ?? phase);
}

const replicasText = ({ available, desired, updated }: ReturnType<typeof replicasOf>): string =>
  `${available} of ${desired} available${updated < desired ? `, ${updated} of the newest revision` : ''}`;

export const addressesOf = ({ subsets = [] }: Endpoints) => ({
  ready: subsets.flatMap(({ addresses = [] }) => addresses),
  notReady: subsets.flatMap(({ notReadyAddresses = [] }) => notReadyAddresses),
});

/** Whether an autoscaler would want more replicas than it may make. */
export const isAtMaximum = ({ spec, status }: Autoscaler): boolean =>
  (status?.currentReplicas ?? 0) >= spec.maxReplicas &&
  (conditionOf(status?.conditions, 'ScalingLimited')?.status ?? 'True') === 'True';

/** `deployment/web: 5 of at most 5 replicas, at its maximum; cpu at 93%`. */
export function autoscalerText(autoscaler: Autoscaler): string {
  const { spec, status } = autoscaler;
  const limited = conditionOf(status?.conditions, 'ScalingLimited');
  const inactive = conditionOf(status?.conditions, 'ScalingActive');
  const metrics = (status?.currentMetrics ?? []).flatMap(({ resource }) =>
    resource?.current?.averageUtilization === undefined
      ? []
      : [`${resource.name} at ${resource.current.averageUtilization}% of what is requested`],
  );
  return [
    `${spec.scaleTargetRef.kind.toLowerCase()}/${spec.scaleTargetRef.name}: ${status?.currentReplicas ?? 0} replicas, ${spec.minReplicas ?? 1} to ${spec.maxReplicas} allowed`,
    ...(isAtMaximum(autoscaler) ? ['at its maximum'] : []),
    ...metrics,
    ...(limited?.status === 'True' && limited.message ? [limited.message] : []),
    ...(inactive?.status === 'False' ? [`cannot scale: ${inactive.message ?? inactive.reason ?? ''}`] : []),
  ].join('; ');
}

/** `selects app=web: 2 of 2 needed pods are healthy, 0 may be disrupted`. */
export function budgetText({ spec, status }: DisruptionBudget): string {
  return `selects ${selectorText(spec.selector) || 'all pods'}: ${status?.currentHealthy ?? 0} healthy, ${status?.desiredHealthy ?? 0} needed, ${status?.disruptionsAllowed ?? 0} of ${status?.expectedPods ?? 0} may be disrupted`;
}

/** What a quota allows and what of it is used; `share` from 0 to 1, null where it cannot be reckoned. */
export function quotaUse({ spec, status }: Quota) {
  return Object.entries(status?.hard ?? spec?.hard ?? {}).map(([resource, hard]) => {
    const used = status?.used?.[resource] ?? '0';
    const [has, may] = [quantity(used), quantity(hard)];
    return { resource, used, hard, share: has === null || may === null || may === 0 ? null : has / may };
  });
}
