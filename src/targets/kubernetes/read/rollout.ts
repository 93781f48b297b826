import { z } from 'zod';
import { OpsError } from '../../../core/errors.ts';
import { measureAt } from '../../../core/measure.ts';
import { age, more, withoutBreaks } from '../../format.ts';
import { podLine } from '../describe.ts';
import { illFirst, isInTheWay, podState, secondsSince } from '../pod-state.ts';
import { templateDiff, templateHash } from '../template.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf, objectName } from '../tool.ts';
import {
  isObserved,
  isOnDelete,
  lastGood,
  partitionOf,
  podStates,
  type Revision,
  type Rollout,
  readRollout,
  workloadKinds,
} from '../workload.ts';

const MOST_REVISIONS = 15;
const MOST_LINES = 40;
export const MOST_PODS = 30;

/** Of what `rolloutData` tells. */
export const rolloutMeasures = [
  measureAt('complete', {
    name: 'rolled_out',
    label: 'the rollout is complete, and all replicas are available',
    unwell: { is: 'the rollout is not complete', was: 'the rollout was not complete' },
    unit: '',
    healthy: 'at_least',
    bound: 1,
    // What dies and is started again is available at some looks.
    intermittent: true,
  }),
  measureAt('unavailable', {
    name: 'unavailable_replicas',
    label: 'replicas that are not available',
    well: '{bound} are not available',
    unit: 'replicas',
    healthy: 'at_most',
    bound: 0,
    intermittent: true,
    metrics: ['kube_deployment_status_replicas_unavailable'],
  }),
  measureAt('ill_pods', {
    name: 'ill_pods',
    label: 'pods in trouble',
    well: '{bound} are in trouble',
    unit: 'pods',
    healthy: 'at_most',
    bound: 0,
    intermittent: true,
  }),
  measureAt('restarts', {
    name: 'restarts',
    label: 'times that its containers were started again',
    well: 'its containers are not started again',
    unit: '',
    healthy: 'steady',
    bound: 0,
  }),
];

/**
 * A workload's rollout. Data: `{ kind, namespace, name, desired, updated, ready, available, unavailable, complete, stalled, paused,
 * ill_pods, restarts, observed, revision, template, newest_pods, completed_once, failures, history: [{ revision, name, age_seconds, cause, ready, pods,
 * images, current }], compared: { from, to, diff } | null, pods: [pod] }`, pods in trouble first. `template` changes with what runs, and with every
 * restart that a rollout makes; `newest_pods`: those of that very template; `observed`: its controller has seen it.
 */
export const readRolloutTool = kubernetesTool.read({
  name: 'kubernetes_rollout',
  description:
    'The rollout of a deployment, stateful set or daemon set: whether it is complete or stalled, its pods, its revisions with age and cause, and what differs between two of them (by default the current one and the last good one before it). Values of environment variables that look like secrets are not shown.',
  kind: 'read',
  measures: rolloutMeasures,
  input: z.strictObject({
    kind: z.enum(workloadKinds).default('deployment'),
    namespace: namespaceName,
    name: objectName,
    from: z.number().int().min(0).optional().describe('A revision to compare.'),
    to: z.number().int().min(0).optional().describe('The other revision.'),
  }),
  timeoutMs: 15_000,
  rules: (context, input) => inCare(context, input),
  async run(context, { kind, namespace: given, name, from, to }) {
    const { cluster } = context.system;
    const namespace = namespaceOf(context.system, given);
    const rollout = await readRollout(cluster, kind, namespace, name, context);
    const now = Date.now();
    const compared = comparedOf(rollout, from, to);
    const all = illFirst(podStates(rollout, now));
    const pods = all.slice(0, MOST_PODS);
    const data = rolloutData(rollout, now);
    return {
      text: [
        rolloutLine(rollout),
        ...rollout.failures,
        ...pods.map(podLine),
        ...more(all.length, pods.length),
        'Revisions:',
        ...data.history.map(revisionLine),
        ...more(rollout.revisions.length, data.history.length),
        ...(compared === null
          ? []
          : [
              `From revision ${compared.from} to ${compared.to}:`,
              ...compared.diff.slice(0, MOST_LINES),
              ...more(compared.diff.length, MOST_LINES),
              ...(compared.diff.length === 0 ? ['nothing differs'] : []),
            ]),
      ]
        .map(withoutBreaks)
        .join('\n'),
      data: { ...data, compared, pods },
    };
  },
});

/** `deployment web: 1 of 3 available, 1 of the newest revision (4); the rollout is stalled`. */
export function rolloutLine({ kind, workload, replicas, revisions, isComplete, isStalled }: Rollout): string {
  const { desired, available, updated } = replicas;
  const current = revisions.find(({ isCurrent }) => isCurrent);
  const state = isOnDelete(workload)
    ? 'a pod is replaced only when somebody deletes it (OnDelete)'
    : isComplete
      ? `the rollout is complete${partitionOf(workload) > 0 ? ` down to its partition: pods below number ${partitionOf(workload)} keep the revision before` : ''}`
      : workload.spec.paused
        ? 'the rollout is paused'
        : isStalled
          ? 'the rollout is stalled: its deadline for progress has passed'
          : 'the rollout is not complete';
  return `${kind} ${workload.metadata.name}: ${available} of ${desired} available, ${updated} of the newest revision${current === undefined ? '' : ` (${current.number})`}; ${state}`;
}

export function rolloutData(rollout: Rollout, now: number) {
  const { kind, workload, replicas, revisions, failures } = rollout;
  const states = podStates(rollout, now);
  const current = revisions.find(({ isCurrent }) => isCurrent);
  const template = templateHash(workload.spec.template);
  return {
    kind,
    namespace: workload.metadata.namespace ?? '',
    name: workload.metadata.name,
    ...replicas,
    unavailable: Math.max(0, replicas.desired - replicas.available),
    complete: rollout.isComplete,
    stalled: rollout.isStalled,
    paused: workload.spec.paused === true,
    ill_pods: states.filter((pod) => isInTheWay(pod, rollout.isComplete)).length,
    restarts: states.reduce((sum, { restarts }) => sum + restarts, 0),
    observed: isObserved(workload),
    revision: current?.number ?? null,
    template,
    // Of what it is to run now: its controller may not have made a revision of it yet.
    newest_pods: current?.hash === template ? current.pods.length : 0,
    completed_once: rollout.hasCompleted,
    failures,
    history: revisions.slice(0, MOST_REVISIONS).map((each) => revisionData(each, now)),
  };
}

const revisionData = (revision: Revision, now: number) => ({
  revision: revision.number,
  name: revision.name,
  age_seconds: secondsSince(revision.createdAt, now),
  cause: revision.cause,
  pods: revision.pods.length,
  ready: revision.pods.filter((pod) => podState(pod, now).ready).length,
  images: revision.template.spec.containers.map(({ image }) => image ?? ''),
  current: revision.isCurrent,
});

function revisionLine(each: ReturnType<typeof revisionData>): string {
  const { revision, age_seconds, images, pods, ready, current, cause } = each;
  return `${revision}${current ? ' (current)' : ''}: ${images.join(', ')}, first made ${age(age_seconds)} ago, ${ready} of ${pods} pods ready${cause === null ? '' : `: ${cause}`}`;
}

function comparedOf(rollout: Rollout, from: number | undefined, to: number | undefined) {
  const of = (number: number | undefined): Revision | undefined => {
    if (number === undefined) return undefined;
    const found = rollout.revisions.find((each) => each.number === number);
    if (found) return found;
    throw new OpsError(
      'KUBERNETES_NOT_FOUND',
      `${rollout.workload.metadata.name} has no revision ${number}.`,
      {
        hint: `It keeps ${rollout.revisions.map((each) => each.number).join(', ') || 'none'}.`,
      },
    );
  };
  const newer = of(to) ?? rollout.revisions.find(({ isCurrent }) => isCurrent);
  const older = of(from) ?? lastGood(rollout)?.revision;
  return newer === undefined || older === undefined || newer === older ? null : compare(older, newer);
}

export const compare = (older: Revision, newer: Revision) => ({
  from: older.number,
  to: newer.number,
  diff: templateDiff(older.template, newer.template),
});
