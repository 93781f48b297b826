import type { V1Taint } from '@kubernetes/client-node';
import { bindPod } from '../api/pod-subresources.ts';
import type { Node, PersistentVolumeClaim, Pod, Wire } from '../objects.ts';
import { quantity } from '../registry/quantity.ts';
import { matchesLabels } from '../registry/selectors.ts';
import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { setPodCondition } from './pod-state.ts';

const pods = resource('pods', '');
const nodes = resource('nodes', '');
const source = { component: 'default-scheduler' };

/** Puts each pod on the emptiest node that can take it, and says of the others why none can. */
export function createScheduler(plane: ControlPlane): Controller {
  return () => {
    for (const pod of plane.store.list<Pod>(pods)) {
      if (pod.spec.nodeName === undefined && pod.metadata.deletionTimestamp === undefined) place(plane, pod);
    }
  };
}

function place(plane: ControlPlane, pod: Pod): void {
  const { namespace = '', name } = pod.metadata;
  const claim = unboundClaim(plane, pod);
  if (claim !== null) return stay(plane, pod, claim);
  const all = plane.store.list<Node>(nodes);
  const placed = plane.store
    .list<Pod>(pods)
    .filter(({ status }) => status.phase !== 'Succeeded' && status.phase !== 'Failed');
  const verdicts = all.map((node) => ({ node, why: obstacles(pod, node, placed) }));
  const [best] = verdicts
    .filter(({ why }) => why.length === 0)
    .toSorted((a, b) => share(a.node, placed) - share(b.node, placed));
  if (best === undefined) return stay(plane, pod, unschedulable(verdicts));
  bindPod(plane, namespace, name, best.node.metadata.name);
  const message = `Successfully assigned ${namespace}/${name} to ${best.node.metadata.name}`;
  plane.events.normal(source, pod, 'Scheduled', message);
}

function stay(plane: ControlPlane, pod: Pod, message: string): void {
  const known = pod.status.conditions?.find(({ type }) => type === 'PodScheduled');
  if (known?.message === message) return;
  plane.registry.setStatus<Pod>(pods, pod, (current) =>
    setPodCondition(current, 'PodScheduled', false, { reason: 'Unschedulable', message }),
  );
  plane.events.warning(source, pod, 'FailedScheduling', message);
}

/** A pod waits for its volumes. */
function unboundClaim({ store }: ControlPlane, pod: Pod): string | null {
  for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
    if (persistentVolumeClaim === undefined) continue;
    const name = persistentVolumeClaim.claimName;
    const claim = store.get(resource('persistentvolumeclaims'), pod.metadata.namespace, name);
    if (claim === undefined) return `persistentvolumeclaim "${name}" not found`;
    if ((claim as PersistentVolumeClaim).status?.phase !== 'Bound') {
      return `0/${store.list(nodes).length} nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/${store.list(nodes).length} nodes are available: ${store.list(nodes).length} Preemption is not helpful for scheduling.`;
    }
  }
  return null;
}

interface Verdict {
  readonly node: Node;
  readonly why: readonly string[];
}

/** `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient memory. preemption: …` */
function unschedulable(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return 'no nodes available to schedule pods';
  const total = `0/${verdicts.length} nodes are available`;
  const reasons = countedReasons(verdicts.flatMap(({ why }) => why));
  // Fewer pods would help where room is all that is missing.
  const full = verdicts.filter(({ why }) => why.every(isAboutRoom)).length;
  const preemption = [
    ...(full < verdicts.length ? [`${verdicts.length - full} Preemption is not helpful for scheduling`] : []),
    ...(full > 0 ? [`${full} No preemption victims found for incoming pod`] : []),
  ];
  return `${total}: ${reasons}. preemption: ${total}: ${preemption.join(', ')}.`;
}

const isAboutRoom = (why: string) => why.startsWith('Insufficient') || why === 'Too many pods';

function countedReasons(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const each of reasons) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .toSorted()
    .join(', ');
}

/** Why a node cannot take a pod, in the scheduler's words; the first kind of obstacle that is found. */
function obstacles(pod: Pod, node: Node, placed: readonly Pod[]): readonly string[] {
  const taint = untolerated(pod, node);
  if (node.spec.unschedulable === true && !tolerates(pod, unschedulableTaint))
    return ['node(s) were unschedulable'];
  if (taint !== undefined) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`];
  if (!matchesLabels(pod.spec.nodeSelector, node.metadata.labels) || !matchesAffinity(pod, node)) {
    return ["node(s) didn't match Pod's node affinity/selector"];
  }
  return lackingRoom(pod, node, placed);
}

const unschedulableTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const untolerated = (pod: Pod, node: Node): Wire<V1Taint> | undefined =>
  node.spec.taints?.find((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(pod, taint));

export const tolerates = ({ spec }: Pick<Pod, 'spec'>, taint: Wire<V1Taint>): boolean =>
  spec.tolerations?.some(
    ({ key, operator = 'Equal', value = '', effect }) =>
      (effect === undefined || effect === '' || effect === taint.effect) &&
      (key === undefined || key === '' ? operator === 'Exists' : key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  ) === true;

function matchesAffinity({ spec }: Pod, { metadata }: Node): boolean {
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms === undefined) return true;
  return terms.some(({ matchExpressions = [], matchFields = [] }) =>
    [...matchExpressions, ...matchFields].every(({ key, operator, values = [] }) => {
      const value = key === 'metadata.name' ? metadata.name : metadata.labels?.[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return value !== undefined && values.includes(value);
    }),
  );
}

function lackingRoom(pod: Pod, node: Node, placed: readonly Pod[]): readonly string[] {
  const own = placed.filter(({ spec }) => spec.nodeName === node.metadata.name);
  const allocatable = node.status.allocatable ?? {};
  const lacking = ['cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu'].filter((name) => {
    const asked = requestOf(pod, name);
    return (
      asked > 0 &&
      asked + own.reduce((sum, each) => sum + requestOf(each, name), 0) > quantity(allocatable[name])
    );
  });
  const full = own.length >= quantity(allocatable['pods'] ?? '110') ? ['Too many pods'] : [];
  return [...full, ...lacking.map((name) => `Insufficient ${name}`)];
}

export const requestOf = ({ spec }: Pick<Pod, 'spec'>, name: string): number =>
  spec.containers.reduce((sum, { resources }) => sum + quantity(resources?.requests?.[name]), 0);

/** How full a node is; by the number of pods where they ask for nothing. */
function share(node: Node, placed: readonly Pod[]): number {
  const own = placed.filter(({ spec }) => spec.nodeName === node.metadata.name);
  const asked = own.reduce((sum, pod) => sum + requestOf(pod, 'memory'), 0);
  return asked / (quantity(node.status.allocatable?.['memory']) || 1) + own.length / 1000;
}
