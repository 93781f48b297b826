import type { V1ReplicaSetCondition } from '@kubernetes/client-node';
import { ApiError } from '../api-error.ts';
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
import { isReady } from './pod-state.ts';

const pods = resource('pods', '');
const source = { component: 'replicaset-controller' };
/** After a refused create, each next one waits twice as long. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

interface Refused {
  readonly message: string;
  readonly waitMs: number;
  readonly retryAt: number;
}

/** Keeps as many pods as a replica set, or a replication controller, wants. */
export function createReplicaSetController(plane: ControlPlane): Controller {
  const refused = new Map<string, Refused>();
  return () => {
    for (const kind of [resource('replicasets'), resource('replicationcontrollers')]) {
      for (const set of plane.store.list<ReplicaSet>(kind)) {
        if (set.metadata.deletionTimestamp !== undefined) continue;
        const own = podsOf(plane, set);
        scale(plane, set, own, refused);
        const left = podsOf(plane, set);
        plane.registry.setStatus(kind, set, (current) =>
          writeStatus(current, left, refused.get(set.metadata.uid)),
        );
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

function scale(
  plane: ControlPlane,
  set: ReplicaSet,
  own: readonly Pod[],
  refused: Map<string, Refused>,
): void {
  const missing = (set.spec.replicas ?? 0) - own.length;
  const { uid } = set.metadata;
  if (missing <= 0) refused.delete(uid);
  if (missing < 0) for (const pod of own.toSorted(leastWorth).slice(0, -missing)) end(plane, set, pod);
  const last = refused.get(uid);
  if (missing <= 0 || (last !== undefined && plane.now() < last.retryAt)) return;
  for (let made = 0; made < missing; made += 1) {
    const waitMs = Math.min((last?.waitMs ?? FIRST_RETRY_MS / 2) * 2, LAST_RETRY_MS);
    const message = start(plane, set);
    if (message === null) refused.delete(uid);
    else {
      refused.set(uid, { message, waitMs, retryAt: plane.now() + waitMs });
      plane.wake(plane.now() + waitMs);
      return;
    }
  }
}

/** Creates a pod; what was said against it. */
function start(plane: ControlPlane, set: ReplicaSet): string | null {
  try {
    const pod = createPod(plane, set, { generateName: `${set.metadata.name}-` });
    plane.events.normal(source, set, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    plane.events.warning(source, set, 'FailedCreate', `Error creating: ${error.message}`);
    return error.message;
  }
}

function end(plane: ControlPlane, set: ReplicaSet, pod: Pod): void {
  plane.registry.remove(pods, pod.metadata.namespace, pod.metadata.name);
  plane.events.normal(source, set, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
}

/** A pod of the owner's template. */
export function createPod(
  { registry }: ControlPlane,
  owner: StoredObject & { spec: { template?: ReplicaSet['spec']['template'] } },
  named: { readonly name?: string; readonly generateName?: string },
  changes: { readonly labels?: Record<string, string>; readonly spec?: Partial<Pod['spec']> } = {},
): Pod {
  const { metadata = {}, spec = { containers: [] } } = structuredClone(owner.spec.template) ?? {};
  const { name, uid, namespace = '' } = owner.metadata;
  const { apiVersion, kind } = owner;
  return registry.create<Pod>(pods, {
    metadata: {
      ...named,
      namespace,
      labels: { ...metadata.labels, ...changes.labels },
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: { ...spec, ...changes.spec },
  });
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

function writeStatus(set: ReplicaSet, own: readonly Pod[], refused: Refused | undefined): void {
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
          message: refused.message,
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
