import { isDeepStrictEqual } from 'node:util';
import { type Deployment, isControlledBy, type PodTemplate, type ReplicaSet } from '../objects.ts';
import { hashSuffix } from '../registry/safe-encode.ts';
import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { deploymentStatus, type Progress } from './deployment-status.ts';
import { podsOf } from './replica-sets.ts';

const deployments = resource('deployments');
const replicaSets = resource('replicasets');
const source = { component: 'deployment-controller' };
const HASH = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';

/** Replaces the pods of a deployment by those of its newest template, by way of replica sets. */
export function createDeploymentController(plane: ControlPlane): Controller {
  const progress = new Map<string, Progress>();
  return () => {
    for (const deployment of plane.store.list<Deployment>(deployments)) {
      if (deployment.metadata.deletionTimestamp === undefined) sync(plane, deployment, progress);
    }
  };
}

interface Rollout {
  readonly wanted: number;
  readonly newest: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

function sync(plane: ControlPlane, seen: Deployment, progress: Map<string, Progress>): void {
  const deployment = withRevision(plane, seen);
  const isPaused = deployment.spec.paused === true;
  if (!isPaused && rolloutOf(plane, deployment).newest === undefined) createSet(plane, deployment);
  const rollout = rolloutOf(plane, deployment);
  if (isPaused) followScale(plane, deployment, rollout);
  else if (deployment.spec.strategy?.type === 'Recreate') recreate(plane, deployment, rollout);
  else {
    growNewest(plane, deployment, rollout);
    shrinkOld(plane, deployment, rolloutOf(plane, deployment));
  }
  forgetOldest(plane, deployment, rolloutOf(plane, deployment).old);
  const now = rolloutOf(plane, deployment);
  const status = deploymentStatus(plane, deployment, now, progress);
  plane.registry.setStatus(deployments, deployment, (current) => {
    current.status = status;
  });
}

function rolloutOf({ store }: ControlPlane, deployment: Deployment): Rollout {
  const sets = store
    .list<ReplicaSet>(replicaSets, deployment.metadata.namespace)
    .filter((set) => isControlledBy(set, deployment) && set.metadata.deletionTimestamp === undefined);
  const newest = sets.find((set) => isDeepStrictEqual(templateOf(set), templateOf(deployment)));
  return { wanted: deployment.spec.replicas ?? 0, newest, old: sets.filter((set) => set !== newest) };
}

/** Without the label that tells the pods of one replica set from those of another. */
function templateOf({ spec }: Deployment | ReplicaSet): unknown {
  const { [HASH]: _, ...labels } = spec.template?.metadata?.labels ?? {};
  return { ...spec.template, metadata: { annotations: {}, ...spec.template?.metadata, labels } };
}

const revisionOf = (set: ReplicaSet) => Number(set.metadata.annotations?.[REVISION] ?? 0);

/** The newest replica set has the highest revision, also when an old one has become the newest by an undo. */
function withRevision(plane: ControlPlane, deployment: Deployment): Deployment {
  const { newest, old } = rolloutOf(plane, deployment);
  const highest = Math.max(0, ...old.map(revisionOf));
  const own = newest === undefined ? 0 : revisionOf(newest);
  const revision = String(own > highest ? own : highest + 1);
  const annotations = { ...deployment.metadata.annotations, [REVISION]: revision };
  if (newest !== undefined) {
    const cause = deployment.metadata.annotations?.['kubernetes.io/change-cause'];
    const told = cause === undefined ? {} : { 'kubernetes.io/change-cause': cause };
    annotate(plane, newest, { ...told, [REVISION]: revision });
  }
  return plane.registry.update<Deployment>(
    deployments,
    deployment.metadata.namespace,
    deployment.metadata.name,
    (current) => ({ ...current, metadata: { ...current.metadata, annotations } }),
  );
}

function annotate(plane: ControlPlane, set: ReplicaSet, annotations: Record<string, string>): void {
  plane.registry.update<ReplicaSet>(replicaSets, set.metadata.namespace, set.metadata.name, (current) => ({
    ...current,
    metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
  }));
}

function createSet(plane: ControlPlane, deployment: Deployment): void {
  const { name, uid, namespace = '', annotations } = deployment.metadata;
  const template = structuredClone(deployment.spec.template) as PodTemplate;
  const hash = hashSuffix(template);
  template.metadata = { ...template.metadata, labels: { ...template.metadata?.labels, [HASH]: hash } };
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...own } = annotations ?? {};
  plane.registry.create<ReplicaSet>(replicaSets, {
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata.labels },
      annotations: own,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      replicas: 0,
      selector: {
        ...deployment.spec.selector,
        matchLabels: { ...deployment.spec.selector.matchLabels, [HASH]: hash },
      },
      template,
    },
  });
}

const sizeOf = (set: ReplicaSet | undefined) => set?.spec.replicas ?? 0;
const availableOf = (set: ReplicaSet | undefined) => set?.status.availableReplicas ?? 0;
const sum = (sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number) =>
  sets.reduce((total, set) => total + of(set), 0);

function resize(plane: ControlPlane, deployment: Deployment, set: ReplicaSet, size: number): void {
  const before = sizeOf(set);
  if (before === size) return;
  plane.registry.update<ReplicaSet>(replicaSets, set.metadata.namespace, set.metadata.name, (current) => ({
    ...current,
    spec: { ...current.spec, replicas: size },
  }));
  const direction = size > before ? 'up' : 'down';
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`;
  plane.events.normal(source, deployment, 'ScalingReplicaSet', message);
}

/** Of `25%` or of a number; at least one pod must be free to move. */
function bounds({ spec }: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {};
  const share = (value: number | string, round: (x: number) => number) =>
    typeof value === 'number' ? value : round(((spec.replicas ?? 0) * Number.parseInt(value, 10)) / 100);
  const surge = share(maxSurge, Math.ceil);
  const unavailable = share(maxUnavailable, Math.floor);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

function growNewest(plane: ControlPlane, deployment: Deployment, { wanted, newest, old }: Rollout): void {
  if (newest === undefined) return;
  const size = sizeOf(newest);
  const room = wanted + bounds(deployment).surge - size - sum(old, sizeOf);
  const grown = size + Math.max(0, Math.min(room, wanted - size));
  resize(plane, deployment, newest, size > wanted ? wanted : grown);
}

/** Takes away old pods that are not available first, then as many as the newest ones make up for. */
function shrinkOld(plane: ControlPlane, deployment: Deployment, { wanted, newest, old }: Rollout): void {
  const least = wanted - bounds(deployment).unavailable;
  const unready = sizeOf(newest) - availableOf(newest);
  let free = sizeOf(newest) + sum(old, sizeOf) - least - unready;
  for (const set of old.toSorted((a, b) => revisionOf(a) - revisionOf(b))) {
    const broken = Math.min(Math.max(0, free), Math.max(0, sizeOf(set) - availableOf(set)));
    const spare = Math.max(0, availableOf(newest) + sum(old, availableOf) - least);
    const healthy = Math.min(Math.max(0, free - broken), spare, sizeOf(set) - broken);
    free -= broken + healthy;
    resize(plane, deployment, set, sizeOf(set) - broken - healthy);
  }
}

function recreate(plane: ControlPlane, deployment: Deployment, { wanted, newest, old }: Rollout): void {
  for (const set of old) resize(plane, deployment, set, 0);
  const isEmpty = old.every((set) => podsOf(plane, set).length === 0);
  if (isEmpty && newest !== undefined) resize(plane, deployment, newest, wanted);
}

/** A paused rollout is scaled where it stands. */
function followScale(plane: ControlPlane, deployment: Deployment, { wanted, newest, old }: Rollout): void {
  const active = [...(newest === undefined ? [] : [newest]), ...old].filter((set) => sizeOf(set) > 0);
  const [largest] = active.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const first = largest ?? newest;
  if (first !== undefined) {
    resize(plane, deployment, first, Math.max(0, sizeOf(first) + wanted - sum(active, sizeOf)));
  }
}

function forgetOldest({ registry }: ControlPlane, { spec }: Deployment, old: readonly ReplicaSet[]): void {
  const idle = old
    .filter((set) => sizeOf(set) === 0 && (set.status.replicas ?? 0) === 0)
    .toSorted((a, b) => revisionOf(b) - revisionOf(a));
  for (const { metadata } of idle.slice(spec.revisionHistoryLimit ?? 10)) {
    registry.remove(replicaSets, metadata.namespace, metadata.name);
  }
}
