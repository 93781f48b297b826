import type { V1NodeCondition } from '@kubernetes/client-node';
import { type Node, type Pod, timestamp, type Wire } from '../objects.ts';
import { resource } from '../resources.ts';
import { BEHAVIOUR, memoryOf } from './behaviours.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { setPodCondition, withCondition } from './pod-state.ts';
import { requestOf } from './scheduler.ts';

const nodes = resource('nodes', '');
const pods = resource('pods', '');
const UNREACHABLE = 'node.kubernetes.io/unreachable';

export const isUp = ({ metadata }: Node): boolean => metadata.annotations?.[BEHAVIOUR] !== 'down';

type Condition = Wire<V1NodeCondition>;

/** What the node controller and the kubelets say of nodes, and what becomes of the pods on one that fails. */
export function createNodeController(plane: ControlPlane): Controller {
  const lostAt = new Map<string, number>();
  return () => {
    for (const seen of plane.store.list<Node>(nodes)) {
      const node = taint(plane, seen);
      plane.registry.setStatus<Node>(nodes, node, (current) => {
        for (const each of conditionsOf(node))
          current.status.conditions = withCondition(current.status.conditions, each);
      });
      const { name } = node.metadata;
      if (isUp(node)) lostAt.delete(name);
      else {
        if (!lostAt.has(name))
          plane.events.normal(
            { component: 'node-controller' },
            node,
            'NodeNotReady',
            `Node ${name} status is now: NodeNotReady`,
          );
        lostAt.set(name, lostAt.get(name) ?? plane.now());
        abandon(plane, node, lostAt.get(name) ?? plane.now());
      }
      const pressure = pressureOf(node);
      if (pressure !== null) evict(plane, node, pressure);
    }
  };
}

type Pressure = 'memory' | 'disk';

function pressureOf({ metadata }: Node): Pressure | null {
  const word = metadata.annotations?.[BEHAVIOUR];
  if (word === 'memory-pressure') return 'memory';
  return word === 'disk-pressure' ? 'disk' : null;
}

function conditionsOf(node: Node): readonly Condition[] {
  const lastHeartbeatTime = node.status.conditions?.[0]?.lastHeartbeatTime ?? timestamp();
  const say = (type: string, status: string, reason: string, message: string): Condition => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime,
  });
  const silent = ['NodeStatusUnknown', 'Kubelet stopped posting node status.'] as const;
  const types = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];
  if (!isUp(node)) return types.map((type) => say(type, 'Unknown', ...silent));
  const pressure = pressureOf(node);
  return [
    pressure === 'memory'
      ? say(
          'MemoryPressure',
          'True',
          'KubeletHasInsufficientMemory',
          'kubelet has insufficient memory available',
        )
      : say(
          'MemoryPressure',
          'False',
          'KubeletHasSufficientMemory',
          'kubelet has sufficient memory available',
        ),
    pressure === 'disk'
      ? say('DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure')
      : say('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    say('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    say('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ];
}

const ownTaints = [
  UNREACHABLE,
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/unschedulable',
];

/** The taints by which the scheduler keeps away from a node; those that people have set stay. */
function taint(plane: ControlPlane, node: Node): Node {
  const pressure = pressureOf(node);
  const wanted = [
    ...(node.spec.taints ?? []).filter(({ key }) => !ownTaints.includes(key)),
    ...(isUp(node) ? [] : ['NoSchedule', 'NoExecute'].map((effect) => ({ key: UNREACHABLE, effect }))),
    ...(pressure === null ? [] : [{ key: `node.kubernetes.io/${pressure}-pressure`, effect: 'NoSchedule' }]),
    ...(node.spec.unschedulable === true
      ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]
      : []),
  ];
  return plane.registry.update<Node>(nodes, null, node.metadata.name, (current) => {
    const { taints: _, ...spec } = current.spec;
    return { ...current, spec: wanted.length === 0 ? spec : { ...spec, taints: wanted } };
  });
}

const podsOn = ({ store }: ControlPlane, { metadata }: Node) =>
  store
    .list<Pod>(pods)
    .filter(
      ({ spec, status }) =>
        spec.nodeName === metadata.name && status.phase !== 'Failed' && status.phase !== 'Succeeded',
    );

/** The pods of a lost node are not ready at once, and are given up when they tolerate it no longer. */
function abandon(plane: ControlPlane, node: Node, lostAt: number): void {
  for (const pod of podsOn(plane, node)) {
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    plane.registry.setStatus<Pod>(pods, pod, (current) => setPodCondition(current, 'Ready', false));
    const toleration = pod.spec.tolerations?.find(
      ({ key, effect }) => key === UNREACHABLE && effect === 'NoExecute',
    );
    if (toleration !== undefined && toleration.tolerationSeconds === undefined) continue;
    const until = lostAt + (toleration?.tolerationSeconds ?? 0) * 1000;
    if (plane.now() < until) {
      plane.wake(until);
      continue;
    }
    const { namespace, name } = pod.metadata;
    const source = { component: 'taint-eviction-controller' };
    plane.events.normal(source, pod, 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`);
    plane.registry.remove(pods, namespace, name);
  }
}

const noun = { memory: 'memory', disk: 'ephemeral-storage' };
const limits = {
  memory: 'Threshold quantity: 100Mi, available: 61204Ki. ',
  disk: 'Threshold quantity: 5368709120, available: 4012Mi. ',
};

/** A kubelet under pressure ends the pods that promised least. */
function evict(plane: ControlPlane, node: Node, pressure: Pressure): void {
  const source = { component: 'kubelet', host: node.metadata.name };
  for (const pod of podsOn(plane, node)) {
    const [container] = pod.spec.containers;
    if (container === undefined || requestOf(pod, noun[pressure]) > 0) continue;
    plane.events.warning(source, node, 'EvictionThresholdMet', `Attempting to reclaim ${noun[pressure]}`);
    const used = pressure === 'memory' ? `${Math.round(memoryOf(container) / 1024)}Ki` : '2140Mi';
    const message =
      `The node was low on resource: ${noun[pressure]}. ${limits[pressure]}` +
      `Container ${container.name} was using ${used}, request is 0, has larger consumption of ${noun[pressure]}. `;
    plane.events.warning(source, pod, 'Evicted', message);
    plane.registry.setStatus<Pod>(pods, pod, (current) => {
      Object.assign(current.status, { phase: 'Failed', reason: 'Evicted', message });
      setPodCondition(current, 'Ready', false, { reason: 'PodFailed' });
      setPodCondition(current, 'ContainersReady', false, { reason: 'PodFailed' });
      current.status.containerStatuses = (current.status.containerStatuses ?? []).map((each) => ({
        ...each,
        ready: false,
        started: false,
        state: { terminated: { exitCode: 137, reason: 'Error', finishedAt: timestamp() } },
      }));
    });
  }
}
