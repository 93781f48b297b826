import { isControlledBy, type Pod, type StatefulSet } from '../objects.ts';
import type { SentObject } from '../registry/registry.ts';
import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { createPodMaker, type PodMaker } from './pod-maker.ts';
import { isReady } from './pod-state.ts';
import { currentRevision, forgetRevisions, hashOf, REVISION_LABEL } from './revisions.ts';

const sets = resource('statefulsets');
const pods = resource('pods', '');
const claims = resource('persistentvolumeclaims');
const source = { component: 'statefulset-controller' };

/** Pods with numbers: the next one starts when all before it are ready, and a rollout goes from the last to the first. */
export function createStatefulSetController(plane: ControlPlane): Controller {
  const maker = createPodMaker(plane, source.component, {
    created: (pod, { name }) => `create Pod ${pod} in StatefulSet ${name} successful`,
    refused: (pod, { name }, why) => `create Pod ${pod} in StatefulSet ${name} failed error: ${why}`,
  });
  return () => {
    for (const set of plane.store.list<StatefulSet>(sets)) {
      if (set.metadata.deletionTimestamp === undefined) sync(plane, set, maker);
    }
  };
}

const ordinal = ({ metadata }: Pod) => Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);

function sync(plane: ControlPlane, set: StatefulSet, maker: PodMaker): void {
  const update = hashOf(currentRevision(plane, set));
  const before = ownPods(plane, set);
  step(plane, set, before, update, maker);
  const now = ownPods(plane, set);
  forgetRevisions(plane, set, now);
  const live = now.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const updated = live.filter((pod) => hashOf(pod) === update).length;
  const ready = live.filter(isReady).length;
  const isDone = updated === live.length && ready === live.length;
  const name = (hash: string) => `${set.metadata.name}-${hash}`;
  plane.registry.setStatus<StatefulSet>(sets, set, (current) => {
    const last = isDone ? name(update) : (current.status.currentRevision ?? name(update));
    current.status = {
      observedGeneration: current.metadata.generation ?? 1,
      replicas: live.length,
      readyReplicas: ready,
      availableReplicas: ready,
      currentReplicas: live.filter((pod) => name(hashOf(pod)) === last).length,
      updatedReplicas: updated,
      currentRevision: last,
      updateRevision: name(update),
      collisionCount: 0,
    };
  });
}

const ownPods = ({ store }: ControlPlane, set: StatefulSet) =>
  store
    .list<Pod>(pods, set.metadata.namespace)
    .filter((pod) => isControlledBy(pod, set))
    .toSorted((a, b) => ordinal(a) - ordinal(b));

/** One thing at a time, as long as pods are not started all at once. */
function step(
  plane: ControlPlane,
  set: StatefulSet,
  own: readonly Pod[],
  update: string,
  maker: PodMaker,
): void {
  const wanted = set.spec.replicas ?? 0;
  const isParallel = set.spec.podManagementPolicy === 'Parallel';
  for (let number = 0; number < wanted; number += 1) {
    const pod = own.find((each) => ordinal(each) === number);
    if (pod === undefined) start(plane, set, number, update, maker);
    else if (pod.status.phase === 'Failed') end(plane, set, pod);
    // A rollout waits behind a pod that is broken, and an undo, too: such a pod is deleted by hand.
    const isBehind = pod === undefined || !isReady(pod) || pod.metadata.deletionTimestamp !== undefined;
    if (!isParallel && isBehind) return;
  }
  const last = own.at(-1);
  if (last !== undefined && ordinal(last) >= wanted) return end(plane, set, last);
  replaceOne(plane, set, own, update);
}

function replaceOne(plane: ControlPlane, set: StatefulSet, own: readonly Pod[], update: string): void {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return;
  const partition = rollingUpdate?.partition ?? 0;
  for (const pod of own.toReversed()) {
    if (ordinal(pod) < partition) return;
    if (hashOf(pod) !== update) return end(plane, set, pod);
    if (!isReady(pod)) return;
  }
}

function end({ registry, events }: ControlPlane, set: StatefulSet, { metadata }: Pod): void {
  if (metadata.deletionTimestamp !== undefined) return;
  registry.remove(pods, metadata.namespace, metadata.name);
  const message = `delete Pod ${metadata.name} in StatefulSet ${set.metadata.name} successful`;
  events.normal(source, set, 'SuccessfulDelete', message);
}

function start(plane: ControlPlane, set: StatefulSet, number: number, hash: string, maker: PodMaker): void {
  const { metadata, spec } = set;
  const name = `${metadata.name}-${number}`;
  const own = (spec.volumeClaimTemplates ?? []).map((template) => ({
    volume: template.metadata?.name ?? '',
    claim: createClaim(plane, set, template as SentObject, name),
  }));
  const volumes = [
    ...(spec.template.spec?.volumes ?? []),
    ...own.map(({ volume, claim }) => ({ name: volume, persistentVolumeClaim: { claimName: claim } })),
  ];
  maker.make(set, {
    name,
    labels: {
      [REVISION_LABEL]: hash,
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': String(number),
    },
    spec: { hostname: name, subdomain: spec.serviceName ?? '', ...(volumes.length === 0 ? {} : { volumes }) },
  });
}

function createClaim(
  { store, registry }: ControlPlane,
  set: StatefulSet,
  template: SentObject,
  pod: string,
): string {
  const name = `${template.metadata?.name}-${pod}`;
  const { namespace = '' } = set.metadata;
  if (store.get(claims, namespace, name) === undefined) {
    registry.create(claims, { ...template, metadata: { ...template.metadata, name, namespace } });
  }
  return name;
}
