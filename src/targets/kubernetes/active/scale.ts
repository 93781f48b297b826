import { z } from 'zod';
import type { Risk } from '../../../core/action.ts';
import { OpsError, refuse } from '../../../core/errors.ts';
import { bootClock } from '../../boot-clock.ts';
import type { Autoscaler, Workload } from '../objects.ts';
import { autoscalerText } from '../summary.ts';
import { inCare, kubernetesTool, mayAct, namespaceName, namespaceOf, objectName } from '../tool.ts';
import { replicasOf, type WorkloadKind } from '../workload.ts';
import { feltBy } from './blast.ts';
import { change, GUARDED, onlyUid, present, rehearse } from './guard.ts';
import {
  inNamespace,
  rolloutOf,
  shownByRollout,
  workloadObject,
  workloadSubject,
} from './workload-change.ts';

const kinds = ['deployment', 'statefulset'] as const;

interface Input {
  readonly kind: (typeof kinds)[number];
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly replicas: number;
  readonly uid?: string | undefined;
}

/** What must not have moved: this very workload, and how many pods it is to have. */
type Guard = {
  readonly uid: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
};

/** Of ending pods that serve. */
function riskOf(kind: WorkloadKind, workload: Workload, replicas: number): Risk {
  const { desired, available } = replicasOf(kind, workload);
  return replicas === 0 || (replicas < desired && replicas < available) ? 'high' : 'medium';
}

/** Changes how many pods a workload is to have. */
export const scaleWorkload = kubernetesTool.active<Input, Guard>({
  name: 'kubernetes_scale',
  description:
    'Changes how many pods a deployment or stateful set is to have, within the bound that its target sets. For one that has too few for its load, or does harm while it runs (0). Where an autoscaler is in charge, it will change the number again.',
  kind: 'active',
  editable: ['replicas'],
  verbs: {
    does: 'Scale',
    did: 'Scaled',
    button: 'Scale the workload',
    frees: 'Load from too few pods, or room from too many.',
    costs: 'More use the cluster; of fewer, some are cut off.',
  },
  input: z.strictObject({
    kind: z.enum(kinds).default('deployment'),
    namespace: namespaceName,
    name: objectName,
    replicas: z.number().int().min(0).max(1_000),
    uid: onlyUid,
  }),
  timeoutMs: 25_000,
  command: ({ kind, namespace, name, replicas }) =>
    `kubectl scale${inNamespace(namespace)} ${kind}/${name} --replicas=${replicas}`,
  rules(context, input) {
    const { maxReplicas } = context.system;
    return (
      mayAct(context) ??
      inCare(context, input) ??
      (input.replicas <= maxReplicas
        ? undefined
        : refuse(
            'KUBERNETES_MAX_REPLICAS',
            `${context.target.name} may be scaled to at most ${maxReplicas}: max_replicas in sentry.yaml sets it.`,
          ))
    );
  },
  async preflight(context, { kind, namespace: given, name, replicas, uid }) {
    const { cluster, maxReplicas } = context.system;
    const namespace = namespaceOf(context.system, given);
    const ref = { kind, namespace, name };
    const workload = await present<Workload>(cluster, { ...ref, uid }, context);
    const { desired, available } = replicasOf(kind, workload);
    if (desired === replicas)
      throw new OpsError('GONE', `${name} is to have ${replicas} already.`, { hint: 'Look at it again.' });
    const [felt, scalers] = await Promise.all([
      feltBy(cluster, namespace, workload.spec.template.metadata?.labels ?? {}, context),
      cluster.list<Autoscaler>('horizontalpodautoscaler', { namespace }, context),
      rehearse<Workload>(context, { ref, values: () => ({ '/spec/replicas': replicas }) }),
    ]);
    const scaler = scalers.items.find(
      ({ spec: { scaleTargetRef: of } }) => of.kind.toLowerCase() === kind && of.name === name,
    );
    const isLess = replicas < desired;
    return {
      guard: { uid: workload.metadata.uid, kind, namespace, name, replicas: desired },
      clock: bootClock(),
      lines: [
        `${kind} ${name}: ${available} of ${desired} available`,
        ...(scaler === undefined ? [] : [`autoscaler ${scaler.metadata.name}: ${autoscalerText(scaler)}`]),
        ...felt.lines,
        GUARDED,
      ],
      blastRadius: [
        isLess
          ? `${desired - replicas} of its ${desired} pods are ended${replicas === 0 ? ': nothing of it runs any more' : ''}; what they were doing is cut off.`
          : `${replicas - desired} more pods use the cluster's memory and CPUs, and whatever they connect to.`,
        ...(isLess ? [felt.says] : []),
      ]
        .join(' ')
        .trim(),
      ...(isLess ? { felt: felt.says } : {}),
      undo:
        desired <= maxReplicas
          ? `Scale it to ${desired} again.`
          : `Cannot be undone by Sentry: it may scale to at most ${maxReplicas} (max_replicas in sentry.yaml), and this has ${desired} now.`,
      risk: riskOf(kind, workload, replicas),
      losesNothing: !isLess,
      ...(scaler === undefined
        ? {}
        : {
            objection: `Autoscaler ${scaler.metadata.name} is in charge of ${name}, and will set its own number again.`,
          }),
    };
  },
  objects: workloadObject,
  run(context, { kind, name, replicas }, guard, deadline) {
    const { namespace } = guard;
    return change<Workload>(
      context,
      {
        ref: { kind, namespace, name },
        moved: ({ metadata, spec }) =>
          metadata.uid === guard.uid && (spec.replicas ?? 1) === guard.replicas
            ? undefined
            : `${name} is to have ${spec.replicas ?? 1} by now, and was to have ${guard.replicas}.`,
        risk: (workload) => riskOf(kind, workload, replicas),
        values: () => ({ '/spec/replicas': replicas }),
      },
      deadline,
      {
        text: `${name} is to have ${replicas} pods; it was ${guard.replicas}.`,
        data:
          guard.replicas <= context.system.maxReplicas
            ? { kind, namespace, name, replicas: guard.replicas, uid: guard.uid }
            : null,
      },
    );
  },
  async look({ system, ...options }, { kind, name, replicas }, { namespace, uid, replicas: before }) {
    const { metadata, spec } = await system.cluster.get<Workload>({ kind, namespace, name }, options);
    const now = spec.replicas ?? 1;
    if (metadata.uid === uid && now === replicas) return 'done';
    return metadata.uid === uid && now === before ? 'not_done' : 'cannot_tell';
  },
  subject: workloadSubject,
  shownBy: shownByRollout,
  inverse: (data) => (data === null ? null : { tool: 'kubernetes_scale', input: data }),
  effect: (input) => ({
    steps: [
      {
        ...rolloutOf(input),
        holds: `result.desired == ${input.replicas}`,
        says: `${input.name} is to have ${input.replicas} pods`,
      },
    ],
    holdMs: 1_000,
    timeoutMs: 30_000,
  }),
});
