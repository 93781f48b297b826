import { z } from 'zod';
import { OpsError } from '../../../core/errors.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { more, withoutBreaks } from '../../format.ts';
import { type Cluster, orGone, type PodLog } from '../cluster.ts';
import { eventLine, inOrder, nodeData, podLine } from '../describe.ts';
import type { ConfigMap, Event, Node, Pod, Workload } from '../objects.ts';
import {
  exceededQuota,
  illFirst,
  isIll,
  missingConfig,
  type PodState,
  secondsSince,
  tellingRank,
  whyUnschedulable,
} from '../pod-state.ts';
import { isBadRevision, reasonOf, sentence } from '../reason.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf, objectName } from '../tool.ts';
import {
  controllerOf,
  lastGood,
  podStates,
  type Rollout,
  readRollout,
  type WorkloadKind,
  workloadKinds,
} from '../workload.ts';
import { eventsOf } from './events.ts';
import { shown, withoutTime } from './logs.ts';
import { compare, MOST_PODS, rolloutData, rolloutLine, rolloutMeasures } from './rollout.ts';

const LOG_LINES = 40;
const EVENT_LINES = 12;
const DIFF_LINES = 30;
/** Beyond that of any trouble. */
const MOST_RANK = 100;

/**
 * Why a workload is not healthy. Data: that of `rollout` without `compared`, and `{ reason, says, healthy, pod, pods, log, log_lines,
 * missing: { kind, name, key, keys } | null, quota: { name, requested, used, limited } | null, unschedulable: [text], node, events:
 * [line], bad_revision, last_good: { revision, serves, images } | null, diff: [line], changed_seconds_ago }`. `pod`: the most telling one;
 * `log`: of its run before the last restart where it keeps dying; `keys`: those that the config map has, null where it is not
 * there or is a secret; `bad_revision`: the newest revision was
 * never whole, only its pods are in trouble, and what it changed can bring that about.
 */
export const whyUnhealthy = kubernetesTool.read({
  name: 'kubernetes_why_unhealthy',
  description:
    'Why a workload is not healthy, in one look from the deployment over its replica sets and pods to the node, events and last words: crash loop, out of memory, missing config, image, quota, no node, eviction, probe; and what differs from the last good revision.',
  kind: 'read',
  measures: rolloutMeasures,
  input: z.strictObject({
    namespace: namespaceName,
    name: objectName.describe('Of a deployment, a stateful set, a daemon set, or of one of its pods.'),
  }),
  timeoutMs: 25_000,
  rules: (context, input) => inCare(context, input),
  async run(context, { namespace: given, name }) {
    const namespace = namespaceOf(context.system, given);
    const { cluster } = context.system;
    const of = await workloadOf(cluster, namespace, name, context);
    const rollout = await readRollout(cluster, of.kind, namespace, of.name, context);
    const now = Date.now();
    const states = illFirst(podStates(rollout, now));
    const pod = mostTelling(rollout, states);
    const current = rollout.revisions.find(({ isCurrent }) => isCurrent);
    const [events, log, node] = await Promise.all([
      readEvents(cluster, namespace, [of.name, current?.name, pod?.name], context),
      pod === null ? [] : readLog(cluster, namespace, pod, context),
      pod?.node ? readNode(cluster, pod.node, context) : null,
    ]);
    const missing = await readMissing(cluster, namespace, pod, events, context);
    const quota = rollout.failures.map(exceededQuota).find((found) => found !== null) ?? null;
    const reason = reasonOf(rollout, pod, { node, quota, missing });
    const good = lastGood(rollout);
    const diff = good === null || current === undefined ? [] : compare(good.revision, current).diff;
    const isBad = isBadRevision(rollout, states, reason, diff);
    const unschedulable = reason === 'unschedulable' ? whyUnschedulable(pod?.message ?? '') : [];
    const warning = pod === null ? '' : warningOf(pod, events);
    const says = withoutBreaks(
      sentence(reason, rollout, pod, { missing, quota, unschedulable, node, warning }),
    );
    const eventLines = events.slice(-EVENT_LINES).map((event) => eventLine(event, now));
    const revisionText =
      good === null || current === undefined
        ? []
        : [
            isBad
              ? `Revision ${current.number} was never whole, and only its pods are in trouble; revision ${good.revision.number} ${good.serves ? 'still serves' : 'was before it'}.`
              : `Revision ${good.revision.number} was before the current revision ${current.number}.`,
            `What differs from revision ${good.revision.number}:`,
            ...(diff.length === 0 ? ['nothing'] : diff.slice(0, DIFF_LINES)),
            ...more(diff.length, DIFF_LINES),
          ];
    return {
      text: [
        rolloutLine(rollout),
        says,
        ...states.slice(0, MOST_PODS).map(podLine),
        ...more(states.length, MOST_PODS),
        ...rollout.failures,
        ...(node === null || node.troubles.length === 0
          ? []
          : [`node ${node.name}: ${node.troubles.join('; ')}`]),
        ...revisionText,
        ...(log.length === 0 ? [] : [`The log of ${pod?.name} [${pod?.container}] ends with:`, ...log]),
        ...(eventLines.length === 0 ? [] : ['Events:', ...eventLines]),
      ]
        .map(withoutBreaks)
        .join('\n'),
      data: {
        ...rolloutData(rollout, now),
        reason,
        says,
        healthy: reason === 'healthy',
        pod,
        pods: states.slice(0, MOST_PODS),
        log: log.map(withoutTime).join('\n'),
        log_lines: log,
        missing,
        quota,
        unschedulable,
        node,
        events: eventLines,
        bad_revision: isBad,
        last_good:
          good === null
            ? null
            : {
                revision: good.revision.number,
                serves: good.serves,
                images: good.revision.template.spec.containers.map(({ image }) => image ?? ''),
              },
        diff,
        changed_seconds_ago: current === undefined ? null : secondsSince(current.createdAt, now),
      },
    };
  },
});

/** As a controller names its pods: with a hash and five characters, with five, or with a number. No word has these letters only. */
const POD_END = /^-(?:(?:[bcdfghjklmnpqrstvwxz2456789]{6,10}-)?[bcdfghjklmnpqrstvwxz2456789]{5}|\d+)$/;

/**
 * The workload of this name, that of the pod of this name, or the one that a pod of this name must have been of: pods in
 * trouble are often gone by the time that somebody looks. Throws OpsError KUBERNETES_NO_WORKLOAD.
 */
async function workloadOf(
  cluster: Cluster,
  namespace: string,
  name: string,
  options: SessionOptions,
): Promise<{ readonly kind: WorkloadKind; readonly name: string }> {
  const lists = await Promise.all(
    workloadKinds.map((kind) => cluster.list<Workload>(kind, { namespace }, options)),
  );
  const all = workloadKinds.flatMap((kind, at) =>
    (lists[at]?.items ?? []).map(({ metadata }) => ({ kind, name: metadata.name, uid: metadata.uid })),
  );
  const called = all.find((each) => each.name === name);
  if (called) return called;
  const pod = await orGone<Pod>(cluster, { kind: 'pod', namespace, name }, options);
  const maker = pod && controllerOf(pod);
  const set =
    maker?.kind === 'ReplicaSet'
      ? await orGone<Workload>(cluster, { kind: 'replicaset', namespace, name: maker.name }, options)
      : undefined;
  // Another one may have taken the name of the set that made it.
  const owner = set === undefined || set.metadata.uid !== maker?.uid ? maker : controllerOf(set);
  const found = pod
    ? all.find(({ uid }) => uid === owner?.uid)
    : all.find((each) => name.startsWith(each.name) && POD_END.test(name.slice(each.name.length)));
  if (found) return found;
  throw new OpsError(
    'KUBERNETES_NO_WORKLOAD',
    pod
      ? `${name} belongs to ${owner === undefined ? 'no workload' : `${owner.kind} ${owner.name}`}.`
      : `There is no workload and no pod ${name} in ${namespace}.`,
    { hint: pod ? 'Describe the pod, and read its log.' : 'List the workloads.' },
  );
}

/** Of the current revision where it has one in trouble: an older pod was the matter before. */
function mostTelling({ revisions }: Rollout, states: readonly PodState[]): PodState | null {
  const newest = new Set(
    revisions.find(({ isCurrent }) => isCurrent)?.pods.map(({ metadata }) => metadata.name) ?? [],
  );
  const rank = (pod: PodState) => tellingRank(pod) + (newest.has(pod.name) ? 0 : MOST_RANK);
  return (
    states
      .filter((pod) => isIll(pod) || pod.trouble === 'waiting')
      .toSorted((a, b) => rank(a) - rank(b))[0] ?? null
  );
}

function warningOf({ name }: PodState, events: readonly Event[]): string {
  const last = events.findLast(
    ({ type, involvedObject: about }) => type === 'Warning' && about.name === name,
  );
  return last === undefined ? '' : `${last.reason ?? ''}: ${(last.message ?? '').trim().slice(0, 400)}`;
}

async function readEvents(
  cluster: Cluster,
  namespace: string,
  names: readonly (string | undefined)[],
  options: SessionOptions,
): Promise<readonly Event[]> {
  const known = [...new Set(names.filter((name) => name !== undefined))];
  const read = await Promise.all(known.map((name) => eventsOf(cluster, namespace, name, options)));
  return inOrder(read.flatMap(({ items }) => items));
}

/** The last words of what keeps dying, else of what runs and is not ready, or prepares its pod and does not end. */
async function readLog(
  cluster: Cluster,
  namespace: string,
  { name, container, trouble }: PodState,
  options: SessionOptions,
): Promise<readonly string[]> {
  const dies = trouble === 'crash_loop' || trouble === 'out_of_memory' || trouble === 'failed';
  if (container === null || !(dies || trouble === 'not_ready' || trouble === 'stuck_starting')) return [];
  // No run before this one may be kept.
  for (const previous of dies ? [true, false] : [false]) {
    const wanted = { container, previous, tail: LOG_LINES };
    const { lines } = await cluster.log(namespace, name, wanted, options).catch(unlessUnreadable);
    if (lines.length > 0) return lines.map(shown);
  }
  return [];
}

/** A container that has not begun has no log, and that of a node which is away cannot be fetched: the rest is worth telling. */
function unlessUnreadable(error: unknown): Pick<PodLog, 'lines'> {
  if (error instanceof OpsError && /^KUBERNETES_(?:400|NOT_FOUND|5\d\d)$/.test(error.code))
    return { lines: [] };
  throw error;
}

async function readNode(cluster: Cluster, name: string, options: SessionOptions) {
  try {
    return nodeData(await cluster.get<Node>({ kind: 'node', name }, options));
  } catch (error) {
    // A node that is gone has its pods a while longer; nodes may be out of what Sentry may read.
    if (error instanceof OpsError && /^KUBERNETES_(?:NOT_FOUND|FORBIDDEN)$/.test(error.code)) return null;
    throw error;
  }
}

/** What the pod lacks, and, of a config map, what it has. */
async function readMissing(
  cluster: Cluster,
  namespace: string,
  pod: PodState | null,
  events: readonly Event[],
  options: SessionOptions,
) {
  if (pod === null || !['missing_config', 'waiting', 'stuck_starting', 'cannot_start'].includes(pod.trouble))
    return null;
  // What cannot be mounted is told by events only.
  const mounts = events
    .filter(({ reason, involvedObject }) => reason === 'FailedMount' && involvedObject.name === pod.name)
    .map(({ message = '' }) => message);
  const found = [pod.message, ...mounts.toReversed()].map(missingConfig).find((each) => each !== null);
  if (!found) return null;
  if (found.kind === 'secret' || found.name === '') return { ...found, keys: null };
  try {
    const { data = {}, binaryData = {} } = await cluster.get<ConfigMap>(
      { kind: 'configmap', namespace, name: found.name },
      options,
    );
    return { ...found, keys: [...Object.keys(data), ...Object.keys(binaryData)] };
  } catch (error) {
    if (error instanceof OpsError && /^KUBERNETES_(?:NOT_FOUND|FORBIDDEN)$/.test(error.code))
      return { ...found, keys: null };
    throw error;
  }
}
