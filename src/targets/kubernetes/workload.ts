import type { SessionOptions } from '../../tools/ports.ts';
import { withoutBreaks } from '../format.ts';
import type { Cluster } from './cluster.ts';
import type {
  ControllerRevision,
  KubernetesObject,
  LabelSelector,
  OwnerReference,
  Pod,
  PodTemplate,
  Workload,
} from './objects.ts';
import { type PodState, podState } from './pod-state.ts';
import { templateHash } from './template.ts';

export const workloadKinds = ['deployment', 'statefulset', 'daemonset'] as const;
export type WorkloadKind = (typeof workloadKinds)[number];

/** How many of its pods a workload is to have, and has. */
export interface Replicas {
  readonly desired: number;
  /** Of its newest revision. */
  readonly updated: number;
  readonly ready: number;
  readonly available: number;
}

export interface Revision {
  readonly number: number;
  /** The ReplicaSet or the ControllerRevision that keeps it. */
  readonly name: string;
  readonly uid: string;
  readonly template: PodTemplate;
  /** See `templateHash`. */
  readonly hash: string;
  readonly createdAt: string;
  /** What `kubectl annotate deployment/x kubernetes.io/change-cause=…` says; null: nothing. */
  readonly cause: string | null;
  readonly isCurrent: boolean;
  readonly pods: readonly Pod[];
}

/** A workload with its revisions, the newest first, and its pods. */
export interface Rollout {
  readonly kind: WorkloadKind;
  readonly workload: Workload;
  readonly replicas: Replicas;
  readonly revisions: readonly Revision[];
  readonly pods: readonly Pod[];
  /** What its controller could not do, like making pods beyond a quota; of the current revision. */
  readonly failures: readonly string[];
  /** Whether the newest revision was once whole: what breaks after that is not its fault alone. */
  readonly hasCompleted: boolean;
  readonly isComplete: boolean;
  /** Its deadline for progress has passed. */
  readonly isStalled: boolean;
}

export const controllerOf = ({ metadata }: KubernetesObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);

/** As a list takes it; null: it selects nothing that can be asked for. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'NotIn' ? 'notin' : 'in'} (${values.join(',')})`;
  });
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join(',');
}

/** Whether labels are among what a selector means; an empty one means everything. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      return (value !== undefined && values.includes(value)) === (operator === 'In');
    })
  );
}

export function replicasOf(kind: WorkloadKind, { spec, status = {} }: Workload): Replicas {
  if (kind === 'daemonset')
    return {
      desired: status.desiredNumberScheduled ?? 0,
      updated: status.updatedNumberScheduled ?? 0,
      ready: status.numberReady ?? 0,
      available: status.numberAvailable ?? 0,
    };
  return {
    desired: spec.replicas ?? 1,
    updated: status.updatedReplicas ?? 0,
    ready: status.readyReplicas ?? 0,
    // Not every version of the API counts the available ones of a StatefulSet.
    available: status.availableReplicas ?? status.readyReplicas ?? 0,
  };
}

/** Whether its controller has seen what it is to be: before that, its state tells of what it was. */
export const isObserved = ({ metadata, status }: Workload): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

/** Its pods are replaced when somebody deletes them, and not before. */
export const isOnDelete = ({ spec }: Workload): boolean => spec.updateStrategy?.type === 'OnDelete';

/** The pods of a StatefulSet that are numbered lower keep the revision before. */
export const partitionOf = ({ spec }: Workload): number => spec.updateStrategy?.rollingUpdate?.partition ?? 0;

/**
 * As `kubectl rollout status` decides it. Of what is replaced by hand it tells nothing: there is no rollout that could be
 * incomplete.
 */
export function isRolledOut(
  kind: WorkloadKind,
  workload: Workload,
  { desired, updated, available }: Replicas,
): boolean {
  if (!isObserved(workload) || available < desired) return false;
  if (isOnDelete(workload)) return true;
  if (kind === 'statefulset') return updated >= desired - partitionOf(workload);
  return updated >= desired && (workload.status?.replicas ?? updated) <= updated;
}

/** Why none of its pods is replaced when what it runs is changed; undefined: they are. */
export function heldBack(workload: Workload): string | undefined {
  const { metadata, spec } = workload;
  const { name } = metadata;
  if (spec.paused) return `The rollout of ${name} is paused: nothing would be replaced.`;
  if (isOnDelete(workload))
    return `${name} replaces a pod only when somebody deletes it (OnDelete): nothing would be replaced.`;
  const partition = partitionOf(workload);
  return partition > 0 && partition >= (spec.replicas ?? 1)
    ? `The partition of ${name} holds all of its pods back (${partition}): nothing would be replaced.`
    : undefined;
}

/** Whether its deadline for progress has passed. */
export const hasStalled = (workload: Workload): boolean =>
  progressingOf(workload)?.reason === 'ProgressDeadlineExceeded';

/**
 * The pods that a workload has made, itself or by one of its ReplicaSets. What only has the same labels (the pod of a job, or
 * one that somebody made by hand) is none of its own.
 */
export function ownPods(
  { metadata }: Workload,
  kept: readonly KubernetesObject[],
  pods: readonly Pod[],
): readonly Pod[] {
  const own = kept.filter((each) => controllerOf(each)?.uid === metadata.uid);
  const makers = new Set([metadata.uid, ...own.map((each) => each.metadata.uid)]);
  return pods.filter((pod) => makers.has(controllerOf(pod)?.uid ?? ''));
}

/** Of all of its pods. */
export const podStates = (
  { pods, isStalled }: Pick<Rollout, 'pods' | 'isStalled'>,
  now: number,
): readonly PodState[] => pods.map((pod) => podState(pod, now, isStalled));

export async function readRollout(
  cluster: Cluster,
  kind: WorkloadKind,
  namespace: string,
  name: string,
  options: SessionOptions,
): Promise<Rollout> {
  const workload = await cluster.get<Workload>({ kind, namespace, name }, options);
  const labelSelector = selectorText(workload.spec.selector);
  const isOwn = (object: KubernetesObject) => controllerOf(object)?.uid === workload.metadata.uid;
  const [kept, { items: selected }] = await Promise.all([
    kind === 'deployment'
      ? cluster.list<Workload>('replicaset', { namespace, labelSelector }, options)
      : cluster.list<ControllerRevision>('controllerrevision', { namespace, labelSelector }, options),
    cluster.list<Pod>('pod', { namespace, labelSelector }, options),
  ]);
  const own = kept.items.filter(isOwn);
  const pods = ownPods(workload, own, selected);
  const revisions =
    kind === 'deployment'
      ? revisionsOfSets(workload, own as readonly Workload[], pods)
      : revisionsOf(workload, own as readonly ControllerRevision[], pods);
  const replicas = replicasOf(kind, workload);
  const current = own.find(({ metadata }) => metadata.uid === revisions.find((each) => each.isCurrent)?.uid);
  const isComplete = isRolledOut(kind, workload, replicas);
  return {
    kind,
    workload,
    replicas,
    revisions,
    pods,
    failures: failuresOf([workload, ...(current && kind === 'deployment' ? [current as Workload] : [])]),
    hasCompleted: isComplete || wasWhole(kind, workload, revisions),
    isComplete,
    isStalled: hasStalled(workload),
  };
}

const progressingOf = ({ status }: Workload) =>
  status?.conditions?.find(({ type }) => type === 'Progressing');

/** Whether the newest revision was whole at some time. Where nobody has kept that, it was unless pods of another are left. */
function wasWhole(kind: WorkloadKind, workload: Workload, revisions: readonly Revision[]): boolean {
  const { currentRevision, updateRevision } = workload.status ?? {};
  if (kind === 'statefulset' && updateRevision !== undefined) return currentRevision === updateRevision;
  // A deployment without a deadline for progress has no such condition.
  const progressing = kind === 'deployment' ? progressingOf(workload) : undefined;
  if (progressing !== undefined) return progressing.reason === 'NewReplicaSetAvailable';
  return !revisions.some(({ isCurrent, pods }) => !isCurrent && pods.length > 0);
}

const failuresOf = (workloads: readonly Workload[]): readonly string[] => [
  ...new Set(
    workloads.flatMap(({ status }) =>
      (status?.conditions ?? [])
        .filter(({ type, status: holds }) => type === 'ReplicaFailure' && holds === 'True')
        .map(({ reason = '', message = '' }) => withoutBreaks(`${reason}: ${message}`)),
    ),
  ),
];

const revisionNumber = ({ metadata }: KubernetesObject): number =>
  Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0);

function revisionsOfSets(
  deployment: Workload,
  sets: readonly Workload[],
  pods: readonly Pod[],
): readonly Revision[] {
  const wanted = templateHash(deployment.spec.template);
  const revisions = sets.map((set) => ({
    ...keptAs(set, set.spec.template),
    number: revisionNumber(set),
    pods: pods.filter((pod) => controllerOf(pod)?.uid === set.metadata.uid),
  }));
  const current = revisions.findLast(({ hash }) => hash === wanted)?.uid;
  return newestFirst(revisions).map((each) => ({ ...each, isCurrent: each.uid === current }));
}

function revisionsOf(
  { metadata: { name }, status }: Workload,
  kept: readonly ControllerRevision[],
  pods: readonly Pod[],
): readonly Revision[] {
  const revisions = newestFirst(
    kept.map((each) => ({
      ...keptAs(each, each.data?.spec?.template ?? { spec: { containers: [] } }),
      number: each.revision,
      // A StatefulSet labels its pods with the whole name, a DaemonSet with its end.
      pods: pods.filter(({ metadata: { labels } }) =>
        [each.metadata.name, each.metadata.name.slice(name.length + 1)].includes(
          labels?.['controller-revision-hash'] ?? '',
        ),
      ),
    })),
  );
  const current = revisions.find((each) => each.name === status?.updateRevision) ?? revisions[0];
  return revisions.map((each) => ({ ...each, isCurrent: each === current }));
}

const newestFirst = <T extends { readonly number: number }>(revisions: readonly T[]): readonly T[] =>
  revisions.toSorted((a, b) => b.number - a.number);

const keptAs = ({ metadata }: KubernetesObject, template: PodTemplate) => ({
  name: metadata.name,
  uid: metadata.uid,
  template,
  hash: templateHash(template),
  createdAt: metadata.creationTimestamp,
  cause: metadata.annotations?.['kubernetes.io/change-cause'] ?? null,
});

const isServing = ({ pods }: Revision): boolean =>
  pods.some(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );

/**
 * The revision to go back to: an older one that serves now, else the one before the current. A rolling update keeps pods of
 * the old one until the new ones are ready, so one that still serves is known to be good.
 */
export function lastGood({
  revisions,
}: Rollout): { readonly revision: Revision; readonly serves: boolean } | null {
  const current = revisions.find(({ isCurrent }) => isCurrent);
  const older = revisions.filter(({ number }) => number < (current?.number ?? 0));
  const serving = older.find(isServing);
  const revision = serving ?? older[0];
  return revision === undefined ? null : { revision, serves: serving !== undefined };
}
