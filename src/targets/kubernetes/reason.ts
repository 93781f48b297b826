import type { nodeData } from './describe.ts';
import {
  type ExceededQuota,
  type Ill,
  isInTheWay,
  type Missing,
  type PodState,
  STARTING_SECONDS,
} from './pod-state.ts';
import type { Rollout } from './workload.ts';

/** What a workload lacks: the trouble of its most telling pod, or what keeps it from having pods. */
export type Reason =
  | Exclude<Ill, 'node_lost'>
  | 'healthy'
  | 'node'
  | 'quota'
  | 'not_made'
  | 'scaled_to_zero'
  | 'paused'
  | 'stalled'
  | 'rolling_out';

/** What was found beside the workload and its pods. */
export interface Found {
  readonly node: ReturnType<typeof nodeData> | null;
  readonly quota: ExceededQuota | null;
  /** `keys`: those that the config map has; null: it is not there, or is a secret. */
  readonly missing: (Missing & { readonly keys: readonly string[] | null }) | null;
  /** The last warning about the pod, by the cluster's events; empty: there is none. */
  readonly warning: string;
}

/** Whoever runs on a node that is away is not ready because of that, and neither starts nor ends there. */
const AWAY_WITH_NODE: ReadonlySet<string> = new Set(['not_ready', 'stuck_starting', 'stuck_terminating']);

export function reasonOf(
  rollout: Rollout,
  pod: PodState | null,
  { node, quota, missing }: Omit<Found, 'warning'>,
): Reason {
  const { isComplete, isStalled, hasCompleted, failures, replicas, workload } = rollout;
  const ill = pod !== null && isInTheWay(pod, isComplete) ? pod : null;
  if (ill?.trouble === 'node_lost' || (node?.ready === false && AWAY_WITH_NODE.has(ill?.trouble ?? '')))
    return 'node';
  if (missing !== null) return 'missing_config';
  // A revision whose pods run and were never ready is given time, where the cluster itself sets it no deadline.
  const isStarting =
    ill?.trouble === 'not_ready' && !hasCompleted && !isStalled && ill.age_seconds < STARTING_SECONDS;
  if (ill !== null && !isStarting) return ill.trouble as Reason;
  if (isComplete) return replicas.desired === 0 ? 'scaled_to_zero' : 'healthy';
  if (quota !== null) return 'quota';
  if (failures.length > 0) return 'not_made';
  if (workload.spec.paused) return 'paused';
  return isStalled ? 'stalled' : 'rolling_out';
}

/** What of a template can bring such a trouble about; left out: nothing of it can. */
const CAUSED_BY: Readonly<Partial<Record<Reason, RegExp>>> = {
  crash_loop: /./,
  out_of_memory: /./,
  cannot_start: /./,
  failed: /./,
  not_ready: /./,
  image: /\.image(?:PullPolicy)?:|^imagePullSecrets\./,
  missing_config: /\.env(?:From)?\.|^volumes\./,
  stuck_starting: /^(?:volumes|initContainers|runtimeClassName)\b|\.volume(?:Mounts|Devices)\b/,
  unschedulable:
    /\.resources\.|\.hostPort:|^(?:nodeSelector|nodeName|affinity|tolerations|topologySpreadConstraints|volumes)\b/,
};

/**
 * Whether the newest revision is to blame: it was never whole, only its pods are in trouble, and what it changed can bring that
 * about. A full cluster or a registry that is away is no fault of what was rolled out meanwhile.
 */
export function isBadRevision(
  { revisions, hasCompleted, isComplete }: Rollout,
  states: readonly PodState[],
  reason: Reason,
  diff: readonly string[],
): boolean {
  const newest = new Set(
    revisions.find(({ isCurrent }) => isCurrent)?.pods.map(({ metadata }) => metadata.name) ?? [],
  );
  const ill = states.filter((pod) => isInTheWay(pod, isComplete));
  return (
    !hasCompleted &&
    ill.length > 0 &&
    ill.every(({ name }) => newest.has(name)) &&
    diff.some((line) => CAUSED_BY[reason]?.test(line) === true)
  );
}

/** What is wrong, for people. */
export function sentence(
  reason: Reason,
  { kind, workload: { metadata }, replicas }: Rollout,
  pod: PodState | null,
  { missing, quota, unschedulable, node, warning }: Found & { readonly unschedulable: readonly string[] },
): string {
  const name = metadata.name;
  switch (reason) {
    case 'healthy':
      return `${name} is healthy.`;
    case 'out_of_memory':
      return `${pod?.name} [${pod?.container}] is killed again and again because it uses more memory than its limit.`;
    case 'crash_loop':
      return `${pod?.name} [${pod?.container}] ends with code ${pod?.exit_code} and is started again and again.`;
    case 'missing_config':
      return missing === null || missing.name === ''
        ? `${pod?.name} cannot start: ${pod?.message}`
        : missing.key === null
          ? `${pod?.name} cannot start: there is no ${missing.kind} ${missing.name}.`
          : `${pod?.name} cannot start: ${missing.kind} ${missing.name} has no key ${missing.key}.`;
    case 'image':
      return `The image ${pod?.image} of ${pod?.name} cannot be pulled: ${pod?.message}`;
    case 'cannot_start':
      return `${pod?.name} cannot start (${pod?.state}): ${pod?.message}`;
    case 'unschedulable':
      return `No node takes ${pod?.name}: ${unschedulable.join('; ') || pod?.message}`;
    case 'stuck_starting':
      return `${pod?.name} does not get beyond ${pod?.state}: ${warning || pod?.message || 'the cluster says nothing of why'}`;
    case 'stuck_terminating':
      return `${pod?.name} does not end: ${pod?.message}`;
    case 'evicted':
      return `${pod?.name} was evicted from ${pod?.node}: ${pod?.message}`;
    case 'failed':
      return `${pod?.name} has failed (${pod?.state}): ${pod?.message}`;
    case 'not_ready':
      return `${pod?.name} runs, and is not ready: ${pod?.message || 'its readiness probe fails'}`;
    case 'node':
      return `${pod?.name} is on node ${pod?.node}, which is not ready${node?.troubles[0] === undefined ? '' : `: ${node.troubles[0]}`}`;
    case 'quota':
      return `Quota ${quota?.name} lets no more pods of ${name} be made: requested ${quota?.requested}, used ${quota?.used}, limited ${quota?.limited}.`;
    case 'not_made':
      return `The pods of ${name} cannot be made.`;
    case 'scaled_to_zero':
      return `${kind} ${name} is scaled to 0: it has no pods on purpose.`;
    case 'paused':
      return `The rollout of ${name} is paused.`;
    case 'stalled':
      return `The rollout of ${name} has got no further within its deadline, and none of its pods says why: ${replicas.available} of ${replicas.desired} are available.`;
    case 'rolling_out':
      return `${name} is being rolled out: ${replicas.available} of ${replicas.desired} are available so far.`;
  }
}
