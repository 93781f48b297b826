import type { V1ReplicaSetCondition } from '@kubernetes/client-node';
import {
  isControlledBy,
  type Pod,
  type ReplicaSet,
  type StoredObject,
  timestamp,
  type Wire,
} from '../objects.ts';
import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { createPodMaker, type PodMaker } from './pod-maker.ts';
import { isReady } from './pod-state.ts';

const pods = resource('pods', '');
const component = 'replicaset-controller';
/** Keeps as many pods as a replica set, or a replication controller, wants. */
export function createReplicaSetController(plane: ControlPlane): Controller {
  const maker = createPodMaker(plane, component);
  return () => {
    for (const kind of [resource('replicasets'), resource('replicationcontrollers')]) {
      for (const set of plane.store.list<ReplicaSet>(kind)) {
        if (set.metadata.deletionTimestamp !== undefined) continue;
        const own = podsOf(plane, set);
        scale(plane, set, own, maker);
        const left = podsOf(plane, set);
        plane.registry.setStatus(kind, set, (current) => writeStatus(current, left, maker.refusal(set)));
      }
    }
  };
}

/** Pods that count: what is ending or has failed is replaced. */
export function podsOf({ store }: ControlPlane, owner: StoredObject): Pod[] {
  return store
    .list<Pod>(pods, owner.metadata.namespace)
    .filter(
      (pod) =>
        isControlledBy(pod, owner) &&
        pod.metadata.deletionTimestamp === undefined &&
        pod.status.phase !== 'Failed' &&
        pod.status.phase !== 'Succeeded',
    );
}

function scale(plane: ControlPlane, set: ReplicaSet, own: readonly Pod[], maker: PodMaker): void {
  const missing = (set.spec.replicas ?? 0) - own.length;
  if (missing < 0) for (const pod of own.toSorted(leastWorth).slice(0, -missing)) end(plane, set, pod);
  if (missing <= 0) maker.forget(set);
  for (let made = 0; made < missing; made += 1) if (!maker.make(set)) return;
}

function end(plane: ControlPlane, set: ReplicaSet, pod: Pod): void {
  plane.registry.remove(pods, pod.metadata.namespace, pod.metadata.name);
  plane.events.normal({ component }, set, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
}

/** Those that are missed least come first: not placed, not ready, often restarted, young. */
function leastWorth(a: Pod, b: Pod): number {
  const rank = (pod: Pod) => [pod.spec.nodeName === undefined ? 0 : 1, isReady(pod) ? 1 : 0];
  const [placedA = 0, readyA = 0] = rank(a);
  const [placedB = 0, readyB = 0] = rank(b);
  return (
    placedA - placedB ||
    readyA - readyB ||
    restarts(b) - restarts(a) ||
    Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp)
  );
}

const restarts = ({ status }: Pod) =>
  (status.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0);

function writeStatus(set: ReplicaSet, own: readonly Pod[], refused: string | undefined): void {
  const ready = own.filter(isReady).length;
  const { conditions: before = [], ...status } = set.status;
  const known = before.find(({ type }) => type === 'ReplicaFailure');
  const failure: Wire<V1ReplicaSetCondition> | null =
    refused === undefined
      ? null
      : {
          type: 'ReplicaFailure',
          status: 'True',
          lastTransitionTime: known?.lastTransitionTime ?? timestamp(),
          reason: 'FailedCreate',
          message: refused,
        };
  set.status = {
    ...status,
    replicas: own.length,
    fullyLabeledReplicas: own.length,
    readyReplicas: ready,
    availableReplicas: ready,
    observedGeneration: set.metadata.generation ?? 1,
    ...(failure === null ? {} : { conditions: [failure] }),
  };
}
