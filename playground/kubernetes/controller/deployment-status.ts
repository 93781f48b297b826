import type { V1DeploymentCondition } from '@kubernetes/client-node';
import { type Deployment, type ReplicaSet, timestamp, type Wire } from '../objects.ts';
import type { ControlPlane } from './control-plane.ts';
import { withCondition } from './pod-state.ts';

/** When a rollout last moved, by what it looked like then. */
export interface Progress {
  readonly looks: string;
  readonly at: number;
}

type Condition = Wire<V1DeploymentCondition>;

interface Rollout {
  readonly wanted: number;
  readonly newest: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

/** What the deployment says of its rollout. */
export function deploymentStatus(
  plane: ControlPlane,
  deployment: Deployment,
  rollout: Rollout,
  progress: Map<string, Progress>,
): Deployment['status'] {
  const { wanted, newest, old } = rollout;
  const all = [...(newest === undefined ? [] : [newest]), ...old];
  const count = (of: (set: ReplicaSet) => number | undefined) =>
    all.reduce((total, set) => total + (of(set) ?? 0), 0);
  const available = count((set) => set.status.availableReplicas);
  const replicas = count((set) => set.status.replicas);
  const numbers = {
    observedGeneration: deployment.metadata.generation ?? 1,
    replicas,
    updatedReplicas: newest?.status.replicas ?? 0,
    readyReplicas: count((set) => set.status.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, Math.max(replicas, wanted) - available),
  };
  let conditions = withCondition(deployment.status.conditions, availability(deployment, available, wanted));
  const moving = progressing(plane, deployment, rollout, numbers, progress);
  if (moving !== null) conditions = withCondition(conditions, moving);
  const failure = all
    .flatMap(({ status }) => status.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure');
  conditions = conditions.filter(({ type }) => type !== 'ReplicaFailure');
  if (failure !== undefined)
    conditions.push({ ...failure, lastUpdateTime: failure.lastTransitionTime ?? timestamp() });
  return {
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0)),
    conditions,
  };
}

function availability({ spec, status }: Deployment, available: number, wanted: number): Condition {
  const { maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {};
  const may =
    spec.strategy?.type === 'Recreate'
      ? 0
      : typeof maxUnavailable === 'number'
        ? maxUnavailable
        : Math.floor((wanted * Number.parseInt(maxUnavailable, 10)) / 100);
  const is = available >= wanted - may;
  return updated(status.conditions, {
    type: 'Available',
    status: is ? 'True' : 'False',
    reason: is ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: is ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
  });
}

interface Numbers {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
}

/** Whether the rollout moves, is done, or has not moved for longer than its deadline. Null: a finished one stays finished. */
function progressing(
  plane: ControlPlane,
  { metadata, spec, status }: Deployment,
  { wanted, newest }: Rollout,
  numbers: Numbers,
  progress: Map<string, Progress>,
): Condition | null {
  const { replicas, updatedReplicas, availableReplicas } = numbers;
  const before = status.conditions?.find(({ type }) => type === 'Progressing');
  const set = newest?.metadata.name ?? '';
  const say = (is: boolean, reason: string, message: string) =>
    updated(status.conditions, { type: 'Progressing', status: is ? 'True' : 'False', reason, message });
  const isDone = [replicas, updatedReplicas, availableReplicas].every((each) => each === wanted);
  const looks = [set, ...Object.values(numbers)].join();
  const last = progress.get(metadata.uid);
  if (last?.looks !== looks) progress.set(metadata.uid, { looks, at: plane.now() });
  if (isDone) return say(true, 'NewReplicaSetAvailable', `ReplicaSet "${set}" has successfully progressed.`);
  const wasDone = before?.reason === 'NewReplicaSetAvailable' && before.message?.includes(`"${set}"`);
  if (wasDone === true && replicas === updatedReplicas) return null;
  const deadline = (progress.get(metadata.uid)?.at ?? 0) + (spec.progressDeadlineSeconds ?? 600) * 1000;
  if (plane.now() >= deadline) {
    return say(false, 'ProgressDeadlineExceeded', `ReplicaSet "${set}" has timed out progressing.`);
  }
  plane.wake(deadline);
  return say(true, 'ReplicaSetUpdated', `ReplicaSet "${set}" is progressing.`);
}

/** With the time at which it last said something else. */
function updated(before: readonly Condition[] | undefined, condition: Condition): Condition {
  const known = before?.find(({ type }) => type === condition.type);
  const isSame = known?.reason === condition.reason && known?.message === condition.message;
  return { ...condition, lastUpdateTime: isSame ? (known?.lastUpdateTime ?? timestamp()) : timestamp() };
}
