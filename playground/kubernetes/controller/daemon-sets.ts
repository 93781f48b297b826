import { type DaemonSet, isControlledBy, type Node, type Pod } from '../objects.ts';
import { matchesLabels } from '../registry/selectors.ts';
import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { createPodMaker, type PodMaker } from './pod-maker.ts';
import { isReady } from './pod-state.ts';
import { currentRevision, forgetRevisions, hashOf, REVISION_LABEL } from './revisions.ts';
import { tolerates } from './scheduler.ts';

const sets = resource('daemonsets');
const pods = resource('pods', '');
const source = { component: 'daemonset-controller' };

/** What the pods of a daemon set put up with beyond others: they belong to their node. */
const tolerations = ['not-ready', 'unreachable'].map((what) => ({
  key: `node.kubernetes.io/${what}`,
  operator: 'Exists',
  effect: 'NoExecute',
}));
const placed = ['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map((what) => ({
  key: `node.kubernetes.io/${what}`,
  operator: 'Exists',
  effect: 'NoSchedule',
}));

/** A pod on every node that it fits. */
export function createDaemonSetController(plane: ControlPlane): Controller {
  const maker = createPodMaker(plane, source.component);
  return () => {
    for (const set of plane.store.list<DaemonSet>(sets)) {
      if (set.metadata.deletionTimestamp === undefined) sync(plane, set, maker);
    }
  };
}

function sync(plane: ControlPlane, set: DaemonSet, maker: PodMaker): void {
  const update = hashOf(currentRevision(plane, set));
  const nodes = plane.store.list<Node>(resource('nodes', '')).filter((node) => fits(set, node));
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const own = ownPods(plane, set);
  for (const name of names) if (!own.some((pod) => nodeOf(pod) === name)) start(maker, set, name, update);
  for (const pod of own) if (!names.has(nodeOf(pod)) || pod.status.phase === 'Failed') end(plane, set, pod);
  replaceOld(plane, set, update);
  const now = ownPods(plane, set).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  forgetRevisions(plane, set, now);
  const ready = now.filter(isReady).length;
  plane.registry.setStatus<DaemonSet>(sets, set, (current) => {
    current.status = {
      observedGeneration: current.metadata.generation ?? 1,
      desiredNumberScheduled: names.size,
      currentNumberScheduled: now.length,
      updatedNumberScheduled: now.filter((pod) => hashOf(pod) === update).length,
      numberReady: ready,
      numberAvailable: ready,
      numberUnavailable: Math.max(0, names.size - ready),
      numberMisscheduled: 0,
    };
  });
}

const ownPods = ({ store }: ControlPlane, set: DaemonSet) =>
  store.list<Pod>(pods, set.metadata.namespace).filter((pod) => isControlledBy(pod, set));

/** A daemon's pod is bound to its node by its affinity, until the scheduler has put it there. */
const nodeOf = ({ spec }: Pod): string =>
  spec.nodeName ??
  spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]
    ?.matchFields?.[0]?.values?.[0] ??
  '';

function fits({ spec }: DaemonSet, node: Node): boolean {
  const own = spec.template.spec;
  const pod = {
    spec: { containers: [], tolerations: [...(own?.tolerations ?? []), ...tolerations, ...placed] },
  };
  return (
    matchesLabels(own?.nodeSelector, node.metadata.labels) &&
    (node.spec.taints ?? []).every((taint) => taint.key?.endsWith('unreachable') || tolerates(pod, taint))
  );
}

function start(maker: PodMaker, set: DaemonSet, node: string, hash: string): void {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  maker.make(set, {
    labels: { [REVISION_LABEL]: hash },
    spec: {
      tolerations: [...(set.spec.template.spec?.tolerations ?? []), ...tolerations, ...placed],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
        },
      },
    },
  });
}

function end({ registry, events }: ControlPlane, set: DaemonSet, { metadata }: Pod): void {
  if (metadata.deletionTimestamp !== undefined) return;
  registry.remove(pods, metadata.namespace, metadata.name);
  events.normal(source, set, 'SuccessfulDelete', `Deleted pod: ${metadata.name}`);
}

/** As many at a time as may be missing. */
function replaceOld(plane: ControlPlane, set: DaemonSet, update: string): void {
  if (set.spec.updateStrategy?.type === 'OnDelete') return;
  const own = ownPods(plane, set);
  const most = Number.parseInt(String(set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1), 10) || 1;
  const isGone = (pod: Pod) => !isReady(pod) || pod.metadata.deletionTimestamp !== undefined;
  let free = most - own.filter(isGone).length;
  for (const pod of own.filter((each) => hashOf(each) !== update)) {
    // A pod that is broken anyway costs nothing.
    if (isGone(pod)) end(plane, set, pod);
    else if (free > 0) {
      end(plane, set, pod);
      free -= 1;
    }
  }
}
