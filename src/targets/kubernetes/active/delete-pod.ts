import { z } from 'zod';
import type { Risk } from '../../../core/action.ts';
import { OpsError } from '../../../core/errors.ts';
import { bootClock, passed } from '../../boot-clock.ts';
import { orGone } from '../cluster.ts';
import { podLine } from '../describe.ts';
import type { Pod } from '../objects.ts';
import { podState } from '../pod-state.ts';
import { inCare, kubernetesTool, mayAct, namespaceName, namespaceOf, objectName } from '../tool.ts';
import { controllerOf } from '../workload.ts';
import { feltBy } from './blast.ts';
import { GUARDED, isConflict, nothing, outcomeOf, present, riskierThan, TRIES } from './guard.ts';
import { inNamespace } from './workload-change.ts';

interface Input {
  readonly namespace?: string | undefined;
  readonly pod: string;
}

/** What must not have moved: this very pod, and who would make another one. */
type Guard = {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly owner: string;
};

/** Those that make a pod anew. A static pod is owned by its node, and is none of theirs. */
const MAKERS = new Set(['ReplicaSet', 'StatefulSet', 'DaemonSet', 'ReplicationController']);

/** What is ready serves somebody. */
const riskOf = (pod: Pod): Risk => (podState(pod, Date.now()).ready ? 'high' : 'medium');

/** Ends one pod, which its controller makes anew. */
export const deletePod = kubernetesTool.active<Input, Guard>({
  name: 'kubernetes_delete_pod',
  description:
    'Ends one pod that a controller owns, which then makes another one, on another node where it may. For a single pod that is stuck while the others of its workload are well. A pod that nobody owns is never deleted.',
  kind: 'active',
  verbs: {
    does: 'Delete',
    did: 'Deleted',
    button: 'Delete the pod',
    frees: 'What hangs in it; its owner starts another.',
    costs: 'What it was doing and held in memory is gone.',
  },
  input: z.strictObject({ namespace: namespaceName, pod: objectName }),
  timeoutMs: 25_000,
  command: ({ namespace, pod }) => `kubectl delete pod${inNamespace(namespace)} ${pod} --wait=false`,
  rules: (context, input) => mayAct(context) ?? inCare(context, input),
  limit: (_input, { owner, namespace }) => ({
    key: `delete pods of ${namespace}/${owner}`,
    what: `deleting pods of ${owner}`,
    times: 3,
    withinMs: 10 * 60_000,
  }),
  async preflight(context, { namespace: given, pod: name }) {
    const { cluster } = context.system;
    const namespace = namespaceOf(context.system, given);
    const ref = { kind: 'pod', namespace, name } as const;
    const pod = await present<Pod>(cluster, ref, context);
    const owner = controllerOf(pod);
    if (owner === undefined || !MAKERS.has(owner.kind))
      throw new OpsError('KUBERNETES_UNOWNED', `Nothing would make ${name} again: it is never deleted.`, {
        hint: 'Look who made it.',
      });
    if (pod.metadata.deletionTimestamp !== undefined)
      throw new OpsError('GONE', `${name} is being ended already.`, { hint: 'Look at its node.' });
    const [felt] = await Promise.all([
      feltBy(cluster, namespace, pod.metadata.labels ?? {}, context),
      cluster.remove(ref, { uid: pod.metadata.uid }, { ...context, dryRun: true }),
    ]);
    const state = podState(pod, Date.now());
    return {
      guard: { uid: pod.metadata.uid, namespace, name, owner: `${owner.kind} ${owner.name}` },
      clock: bootClock(),
      lines: [podLine(state), `owned by ${owner.kind} ${owner.name}`, ...felt.lines, GUARDED],
      blastRadius: [
        state.ready
          ? 'It is ready now: what it is doing is cut off.'
          : 'It is not ready now, so nothing is sent to it.',
        ...(owner.kind === 'StatefulSet'
          ? ['Its volume stays, and is given to the pod of the same name.']
          : []),
        ...(state.ready ? [felt.says] : []),
      ]
        .join(' ')
        .trim(),
      felt: felt.says,
      undo: 'Cannot be undone: what it held in memory and on its own disk is gone.',
      risk: riskOf(pod),
      losesNothing: false,
      ...(state.ready && felt.blocking.length > 0
        ? {
            objection: `Disruption budget ${felt.blocking.join(', ')} allows none of its pods to be taken away now; a deletion is not held up by it.`,
          }
        : {}),
    };
  },
  objects: (_input, { namespace, name, owner }) => [
    {
      kind: 'pod',
      key: `${namespace}/${name}`,
      label: `pod ${name} of ${namespace}`,
      application: { key: `${namespace}/${owner}`, label: owner },
    },
  ],
  async run({ system, ...options }, _input, { uid, namespace, name }, deadline) {
    const ref = { kind: 'pod', namespace, name } as const;
    for (let tries = 1; ; tries += 1) {
      const pod = await present<Pod>(system.cluster, ref, options);
      if (pod.metadata.uid !== uid) return nothing(`${name} is another one of the same name by now.`);
      const riskier = riskierThan(deadline, riskOf(pod));
      if (riskier) return riskier;
      if (passed(bootClock(), deadline)) return nothing('the deadline had passed.');
      try {
        await system.cluster.remove(ref, pod.metadata, options);
        return { kind: 'succeeded', text: `${name} is being ended.`, data: { namespace, pod: name } };
      } catch (error) {
        if (tries >= TRIES || !isConflict(error)) return outcomeOf(error);
      }
    }
  },
  async look({ system, ...options }, _input, { uid, namespace, name }) {
    const pod = await orGone<Pod>(system.cluster, { kind: 'pod', namespace, name }, options);
    return pod?.metadata.uid === uid && pod.metadata.deletionTimestamp === undefined ? 'not_done' : 'done';
  },
  subject: ({ pod: name }) => ({ kind: 'name', name }),
  repairsOnly: true,
  names: ['pod'],
  effect: ({ namespace, pod: name }, { uid }) => ({
    steps: [
      {
        tool: 'kubernetes_list',
        input: { kind: 'pod', ...(namespace === undefined ? {} : { namespace }), name },
        holds: `result.items.all(p, p.uid != '${uid}')`,
        says: `${name} has ended`,
      },
    ],
    holdMs: 1_000,
    timeoutMs: 90_000,
  }),
});
