import type { ContainerStatus, Pod } from './objects.ts';

/** A container that was started again several times and runs for less than this is taken to be dying again and again. */
const LOOPING_SECONDS = 60;

/** What is still being set up after this long does not come up by itself. A deployment's deadline is the same by default. */
export const STARTING_SECONDS = 600;

/** A pod is given its grace period, and its kubelet this long to take down what it has put up for it. */
const ENDING_SECONDS = 120;

/**
 * What is wrong with a pod, the most telling first: what is seen of one that cannot run says more than that another is not
 * ready, or has gone. `out_of_memory`: of one that keeps dying, its last end. `missing_config`: a config map, a secret or a key
 * of them is not there. `cannot_start`: its container cannot be made for another reason. `stuck_starting`: it is being set up
 * for too long. `not_ready`: it runs, and its readiness probe fails. `stuck_terminating`: it was to end, and has not.
 */
const troubles = [
  'out_of_memory',
  'crash_loop',
  'missing_config',
  'image',
  'cannot_start',
  'unschedulable',
  'stuck_starting',
  'node_lost',
  'not_ready',
  'stuck_terminating',
  'evicted',
  'failed',
] as const;

/** What passes by itself: `waiting` is being set up, and nothing is known to be in its way; `finished` is a job's. */
type Passing = 'none' | 'waiting' | 'terminating' | 'finished';
export type Ill = (typeof troubles)[number];
export type Trouble = Ill | Passing;

/** A pod at one moment, for people and for expressions. */
export interface PodState {
  readonly name: string;
  readonly trouble: Trouble;
  readonly ready: boolean;
  /** It is not ready any more, since this start of its container: what is only starting never was. */
  readonly was_ready: boolean;
  /** The cluster's own word for its state: `Running`, `CrashLoopBackOff`, `Evicted`. */
  readonly state: string;
  /** What the cluster says of it; empty when nothing. */
  readonly message: string;
  /** The container that is the matter; null: none is. */
  readonly container: string | null;
  readonly image: string | null;
  /** Of all of its containers. */
  readonly restarts: number;
  /** Of the last end of that container; null: it has not ended. */
  readonly exit_code: number | null;
  readonly node: string | null;
  readonly age_seconds: number;
  readonly [key: string]: string | number | boolean | null;
}

const IMAGE = /^(?:ErrImage\w*|ImagePullBackOff|InvalidImageName|ImageInspectError|RegistryUnavailable)$/;
const SETTING_UP = /^(?:ContainerCreating|PodInitializing)$/;

/** `isStalled`: the rollout that it is of got no further within its deadline. */
export function podState(pod: Pod, now: number, isStalled = false): PodState {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const specs = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const told = tellOf(pod, statuses, now, isStalled);
  const ended = told.at?.state?.terminated ?? told.at?.lastState?.terminated;
  return {
    name: pod.metadata.name,
    trouble: told.trouble,
    ready: told.trouble === 'none',
    was_ready: wasReady(pod, told.at),
    state: told.state,
    message: told.message,
    container: told.at?.name ?? null,
    image: specs.find(({ name }) => name === told.at?.name)?.image ?? specs.at(-1)?.image ?? null,
    restarts: statuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
    exit_code: ended?.exitCode ?? null,
    node: pod.spec.nodeName ?? null,
    age_seconds: secondsSince(pod.metadata.creationTimestamp, now),
  };
}

interface Told {
  readonly trouble: Trouble;
  readonly state: string;
  readonly message: string;
  readonly at?: ContainerStatus | undefined;
}

function tellOf(pod: Pod, statuses: readonly ContainerStatus[], now: number, isStalled: boolean): Told {
  const { phase = 'Unknown', reason, message = '', conditions = [] } = pod.status ?? {};
  const condition = (type: string) => conditions.find((each) => each.type === type);
  if (reason === 'NodeLost' || phase === 'Unknown')
    return { trouble: 'node_lost', state: reason ?? phase, message };
  if (pod.metadata.deletionTimestamp) return endingOf(pod, now);
  if (phase === 'Succeeded') return { trouble: 'finished', state: phase, message };
  if (phase === 'Failed')
    return {
      trouble: reason === 'Evicted' ? 'evicted' : 'failed',
      state: reason ?? phase,
      message,
      at: endedOf(statuses),
    };
  const scheduled = condition('PodScheduled');
  if (scheduled?.status === 'False')
    return {
      trouble: 'unschedulable',
      state: scheduled.reason ?? 'Unschedulable',
      message: scheduled.message ?? '',
    };
  for (const at of statuses) {
    const told = troubleOf(at, now);
    if (told) return told;
  }
  const ready = condition('Ready');
  if (phase === 'Running' && ready?.status === 'True') return { trouble: 'none', state: phase, message: '' };
  if (phase === 'Running') {
    const at = statuses.find((each) => !each.ready);
    return { trouble: 'not_ready', state: 'NotReady', message: ready?.message ?? '', at };
  }
  const waiting = statuses.find((each) => each.state?.waiting);
  const since = scheduled?.lastTransitionTime ?? pod.metadata.creationTimestamp;
  return {
    trouble: isStalled || secondsSince(since, now) > STARTING_SECONDS ? 'stuck_starting' : 'waiting',
    state: waiting?.state?.waiting?.reason ?? phase,
    message: waiting?.state?.waiting?.message ?? message,
    // Containers wait for those that prepare the pod, one of which may be at it all the while.
    at: pod.status?.initContainerStatuses?.find(({ state, ready: is }) => state?.running && !is) ?? waiting,
  };
}

/** The time at which it is to have ended stands in it, its grace period included. */
function endingOf({ metadata, status }: Pod, now: number): Told {
  const { deletionTimestamp: by, finalizers = [] } = metadata;
  const { message = '' } = status ?? {};
  if (secondsSince(by, now) <= ENDING_SECONDS)
    return { trouble: 'terminating', state: 'Terminating', message };
  const kept = finalizers.length === 0 ? '' : `; kept by its finalizers: ${finalizers.join(', ')}`;
  return {
    trouble: 'stuck_terminating',
    state: 'Terminating',
    message: `it was to have ended by ${by}, and is still there${kept}`,
  };
}

function wasReady({ status }: Pod, at: ContainerStatus | undefined): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const since = Date.parse(ready?.lastTransitionTime ?? '');
  return ready?.status === 'False' && since > Date.parse(at?.state?.running?.startedAt ?? '');
}

const endedOf = (statuses: readonly ContainerStatus[]) =>
  statuses.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);

/** What keeps a container from running; undefined: nothing does. */
function troubleOf(at: ContainerStatus, now: number): Told | undefined {
  const { state, lastState, restartCount } = at;
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (IMAGE.test(reason)) return { trouble: 'image', state: reason, message, at };
  const last = state?.terminated ?? lastState?.terminated;
  // What has ended once may do so for a reason that is over.
  const isLooping =
    reason === 'CrashLoopBackOff' ||
    (restartCount > 0 && state?.terminated !== undefined && state.terminated.exitCode !== 0) ||
    (restartCount > 1 &&
      state?.running?.startedAt !== undefined &&
      secondsSince(state.running.startedAt, now) < LOOPING_SECONDS);
  if (isLooping)
    return {
      trouble: last?.reason === 'OOMKilled' ? 'out_of_memory' : 'crash_loop',
      state: reason || last?.reason || 'CrashLoopBackOff',
      message: last?.message ?? message,
      at,
    };
  if (reason === 'CreateContainerConfigError')
    return { trouble: 'missing_config', state: reason, message, at };
  if (reason !== '' && !SETTING_UP.test(reason))
    return { trouble: 'cannot_start', state: reason, message, at };
  return undefined;
}

export const secondsSince = (time: string | undefined, now: number): number =>
  time === undefined ? 0 : Math.max(0, Math.round((now - Date.parse(time)) / 1_000));

/** Whether anything is wrong with it that does not pass by itself. */
export const isIll = ({ trouble }: Pick<PodState, 'trouble'>): boolean =>
  (troubles as readonly Trouble[]).includes(trouble);

/** Pods that have ended stay listed: where their workload has others in their place, they are traces and no trouble. */
export const isInTheWay = (pod: Pick<PodState, 'trouble'>, isWhole: boolean): boolean =>
  isIll(pod) && !(isWhole && (pod.trouble === 'evicted' || pod.trouble === 'failed'));

export type Missing = {
  readonly kind: 'configmap' | 'secret';
  readonly name: string;
  /** Null: all of it. */
  readonly key: string | null;
};

/** Those in trouble first. */
export const illFirst = (pods: readonly PodState[]): readonly PodState[] =>
  pods.toSorted((a, b) => Number(isIll(b)) - Number(isIll(a)));

/** For sorting: the less, the more it tells. */
export const tellingRank = ({ trouble }: Pick<PodState, 'trouble'>): number =>
  isIll({ trouble }) ? (troubles as readonly Trouble[]).indexOf(trouble) : troubles.length;

/** What is not there, by the words of a kubelet: `configmap "shop" not found`, `couldn't find key url in Secret shop/db`. */
export function missingConfig(message: string): Missing | null {
  const whole = /\b(configmap|secret) "([^"]+)" not found/i.exec(message);
  if (whole)
    return {
      kind: whole[1]?.toLowerCase() === 'secret' ? 'secret' : 'configmap',
      name: whole[2] ?? '',
      key: null,
    };
  const part = /couldn't find key (\S+) in (ConfigMap|Secret) (?:[^/\s]+\/)?(\S+)/.exec(message);
  if (part)
    return { kind: part[2] === 'Secret' ? 'secret' : 'configmap', name: part[3] ?? '', key: part[1] ?? null };
  // Of a volume that names single keys.
  const item = /\b(configmap|secret)s? references non-existent (?:config|secret) key: (\S+)/i.exec(message);
  return (
    item && {
      kind: item[1]?.toLowerCase() === 'secret' ? 'secret' : 'configmap',
      name: '',
      key: item[2] ?? null,
    }
  );
}

export type ExceededQuota = {
  readonly name: string;
  readonly requested: string;
  readonly used: string;
  readonly limited: string;
};

/** What a quota refuses, by the words of its admission: which one, and how much of what. */
export function exceededQuota(message: string): ExceededQuota | null {
  const found =
    /exceeded quota: ([^,\s]+), requested: (.+?), used: (.+?), limited: (.+?)(?:\s*$|[;.]\s)/.exec(message);
  return (
    found && {
      name: found[1] ?? '',
      requested: found[2] ?? '',
      used: found[3] ?? '',
      limited: found[4] ?? '',
    }
  );
}

/** Why no node takes it, each reason once: `Insufficient memory`. */
export function whyUnschedulable(message: string): readonly string[] {
  const [, reasons = ''] = /nodes are available:\s*(.*)$/s.exec(message) ?? [];
  return reasons
    .replace(/\.?\s*preemption:.*$/s, '')
    .replace(/\.\s*$/, '')
    .split(/,\s*(?=\d+\s)/)
    .map((each) => each.replace(/^\d+\s+(?:node\(s\)\s+)?/, '').trim())
    .filter((each) => each !== '');
}
