import { z } from 'zod';
import type { Risk } from '../../../core/action.ts';
import { OpsError } from '../../../core/errors.ts';
import { bootClock } from '../../boot-clock.ts';
import type { PodTemplate, Workload } from '../objects.ts';
import { rolloutLine } from '../read/rollout.ts';
import { RESTART_OF, RESTARTED_AT } from '../template.ts';
import { inCare, kubernetesTool, mayAct, namespaceName, namespaceOf, objectName } from '../tool.ts';
import { partitionOf, readRollout, replicasOf, type WorkloadKind, workloadKinds } from '../workload.ts';
import { feltBy } from './blast.ts';
import { asGone, change, GUARDED, rehearse } from './guard.ts';
import {
  guardOf,
  inNamespace,
  movedSince,
  PODS_FOLLOW,
  replaceable,
  rolloutOf,
  shownByRollout,
  type WorkloadGuard,
  workloadObject,
  workloadSubject,
} from './workload-change.ts';

interface Input {
  readonly kind: WorkloadKind;
  readonly namespace?: string | undefined;
  readonly name: string;
}

const restarted = (template: PodTemplate, of: string, at: string): PodTemplate => ({
  ...template,
  metadata: {
    ...template.metadata,
    annotations: { ...template.metadata?.annotations, [RESTARTED_AT]: at, [RESTART_OF]: of },
  },
});

const endsAllAtOnce = ({ spec }: Workload): boolean => spec.strategy?.type === 'Recreate';

function riskOf(kind: WorkloadKind, workload: Workload): Risk {
  if (replicasOf(kind, workload).available === 0) return 'low';
  return endsAllAtOnce(workload) ? 'high' : 'medium';
}

/** Replaces all pods of a workload, in the order of its update strategy. */
export const restartRollout = kubernetesTool.active<Input, WorkloadGuard>({
  name: 'kubernetes_rollout_restart',
  description:
    'Replaces all pods of a deployment, stateful set or daemon set by new ones of the same revision, in the order of its update strategy. For one that is stuck, or has to read its configuration again. It mends nothing that is wrong with the revision.',
  kind: 'active',
  verbs: {
    does: 'Restart',
    did: 'Restarted',
    button: 'Restart the workload',
    frees: 'Pods that hang; each is replaced by a new one.',
    costs: 'What each was doing is cut off.',
  },
  input: z.strictObject({
    kind: z.enum(workloadKinds).default('deployment'),
    namespace: namespaceName,
    name: objectName,
  }),
  timeoutMs: 25_000,
  command: ({ kind, namespace, name }) => `kubectl rollout restart${inNamespace(namespace)} ${kind}/${name}`,
  rules: (context, input) => mayAct(context) ?? inCare(context, input),
  limit: (_input, _guard, [object]) => ({
    key: `restart ${object?.key}`,
    what: `restart of ${object?.label}`,
    times: 2,
    withinMs: 10 * 60_000,
  }),
  async preflight(context, { kind, namespace: given, name }) {
    const { cluster } = context.system;
    const namespace = namespaceOf(context.system, given);
    const ref = { kind, namespace, name };
    const rollout = await readRollout(cluster, kind, namespace, name, context).catch((error: unknown) => {
      throw asGone(error, ref);
    });
    const { workload, replicas } = rollout;
    replaceable(workload);
    if (replicas.desired === 0)
      throw new OpsError('GONE', `${name} has no pods to replace.`, { hint: 'Scale it first.' });
    const guard = guardOf(kind, workload);
    const [felt] = await Promise.all([
      feltBy(cluster, namespace, workload.spec.template.metadata?.labels ?? {}, context),
      rehearse<Workload>(context, {
        ref,
        values: ({ spec }) => ({
          '/spec/template': restarted(spec.template, guard.template, now()) as never,
        }),
      }),
    ]);
    const partition = partitionOf(workload);
    const isAllAtOnce = endsAllAtOnce(workload);
    return {
      guard,
      clock: bootClock(),
      lines: [rolloutLine(rollout), ...felt.lines, GUARDED],
      blastRadius: [
        isAllAtOnce
          ? `All ${replicas.desired} pods end before new ones start: it is away meanwhile.`
          : `${partition > 0 ? `Its pods from number ${partition} on` : `Its ${replicas.desired} pods`} are replaced a few at a time; what each was doing is cut off.`,
        felt.says,
      ]
        .join(' ')
        .trim(),
      felt: felt.says,
      undo: 'Cannot be undone: what the old pods held in memory is gone.',
      risk: riskOf(kind, workload),
      losesNothing: replicas.available === 0,
    };
  },
  objects: workloadObject,
  run(context, { kind, name }, guard, deadline) {
    return change<Workload>(
      context,
      {
        ref: { kind, namespace: guard.namespace, name },
        moved: (workload) => movedSince(guard, workload),
        risk: (workload) => riskOf(kind, workload),
        values: ({ spec }) => ({
          '/spec/template': restarted(spec.template, guard.template, now()) as never,
        }),
      },
      deadline,
      { text: `The pods of ${name} are being replaced.`, data: { kind, namespace: guard.namespace, name } },
    );
  },
  async look({ system, ...options }, { kind, name }, { namespace, uid, template }) {
    const { metadata, spec } = await system.cluster.get<Workload>({ kind, namespace, name }, options);
    if (metadata.uid !== uid) return 'cannot_tell';
    return spec.template.metadata?.annotations?.[RESTART_OF] === template ? 'done' : 'not_done';
  },
  subject: workloadSubject,
  shownBy: shownByRollout,
  repairsOnly: true,
  effect: (input, { template }) => ({
    steps: [
      {
        ...rolloutOf(input),
        holds: `result.template != '${template}' && ${PODS_FOLLOW}`,
        says: `${input.name} replaces its pods`,
      },
    ],
    holdMs: 1_000,
    // A pod may have to end, at its own pace, before one is made in its place.
    timeoutMs: 180_000,
  }),
});

const now = () => new Date().toISOString();
