import { z } from 'zod';
import type { Risk } from '../../../core/action.ts';
import { OpsError } from '../../../core/errors.ts';
import { bootClock } from '../../boot-clock.ts';
import { more } from '../../format.ts';
import type { PodTemplate, Workload } from '../objects.ts';
import { compare, rolloutLine } from '../read/rollout.ts';
import { templateHash } from '../template.ts';
import { inCare, kubernetesTool, mayAct, namespaceName, namespaceOf, objectName } from '../tool.ts';
import { isRolledOut, type Revision, readRollout, replicasOf } from '../workload.ts';
import { feltBy } from './blast.ts';
import { asGone, change, GUARDED, nothing, ofUid, onlyUid, rehearse } from './guard.ts';
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
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly to_revision: number;
  readonly uid?: string | undefined;
}

/** `to`: what that revision runs, as its number could come to mean another one. */
type Guard = WorkloadGuard & { readonly to: string };

const MOST_LINES = 12;

/** A revision as a deployment takes it: without the label by which its ReplicaSet knows its pods. */
function asTemplate({ template }: Revision): PodTemplate {
  const { 'pod-template-hash': _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** What is rolled out whole serves; what is half-way does not, or not yet. */
function riskOf(workload: Workload): Risk {
  const replicas = replicasOf('deployment', workload);
  return isRolledOut('deployment', workload, replicas) && replicas.desired > 0 ? 'high' : 'medium';
}

/** Brings a deployment back to an older revision. */
export const undoRollout = kubernetesTool.active<Input, Guard>({
  name: 'kubernetes_rollout_undo',
  description:
    'Brings a deployment back to one of its older revisions (image, environment, resources, probes: everything of its pods). For a rollout that does not become healthy while the revision before it was. kubernetes_rollout lists the revisions.',
  kind: 'active',
  verbs: {
    does: 'Roll back',
    did: 'Rolled back',
    button: 'Roll it back',
    frees: 'Whoever the newer revision fails.',
    costs: 'What the newer revision brought is taken back.',
  },
  input: z.strictObject({
    namespace: namespaceName,
    name: objectName,
    to_revision: z.number().int().min(1),
    uid: onlyUid,
  }),
  timeoutMs: 25_000,
  command: ({ namespace, name, to_revision }) =>
    `kubectl rollout undo${inNamespace(namespace)} deployment/${name} --to-revision=${to_revision}`,
  rules: (context, input) => mayAct(context) ?? inCare(context, input),
  async preflight(context, { namespace: given, name, to_revision, uid }) {
    const { cluster } = context.system;
    const namespace = namespaceOf(context.system, given);
    const ref = { kind: 'deployment', namespace, name } as const;
    const rollout = await readRollout(cluster, 'deployment', namespace, name, context).catch(
      (error: unknown) => {
        throw asGone(error, ref);
      },
    );
    const { revisions } = rollout;
    const workload = ofUid(rollout.workload, { ...ref, uid });
    const wanted = revisions.find(({ number }) => number === to_revision);
    const current = revisions.find(({ isCurrent }) => isCurrent);
    if (wanted === undefined)
      throw new OpsError('GONE', `${name} keeps no revision ${to_revision}.`, {
        hint: `It keeps ${revisions.map(({ number }) => number).join(', ') || 'none'}.`,
      });
    replaceable(workload);
    const guard = guardOf('deployment', workload);
    if (wanted.hash === guard.template)
      throw new OpsError('GONE', `${name} is at revision ${to_revision} already.`, {
        hint: 'Look at it again.',
      });
    const [felt] = await Promise.all([
      feltBy(cluster, namespace, workload.spec.template.metadata?.labels ?? {}, context),
      rehearse<Workload>(context, { ref, values: () => ({ '/spec/template': asTemplate(wanted) as never }) }),
    ]);
    const diff = current === undefined ? [] : compare(current, wanted).diff;
    const serving = wanted.pods.length;
    return {
      guard: { ...guard, to: wanted.hash },
      clock: bootClock(),
      lines: [
        rolloutLine(rollout),
        serving > 0
          ? `${serving} of its pods are of revision ${to_revision} now`
          : `none of its pods is of revision ${to_revision} now: whether it would work is not known`,
        ...diff.slice(0, MOST_LINES),
        ...more(diff.length, MOST_LINES),
        ...felt.lines,
        GUARDED,
      ],
      blastRadius: [
        `Pods of revision ${current?.number ?? 'unknown'} are replaced by those of revision ${to_revision}; what the newer revision brought is taken back. Data that it has written stays as it is.`,
        felt.says,
      ]
        .join(' ')
        .trim(),
      felt: felt.says,
      undo:
        current === undefined
          ? 'Roll out again what was there.'
          : `Roll it to revision ${current.number} again.`,
      risk: riskOf(workload),
      losesNothing: current !== undefined && !rollout.isComplete,
    };
  },
  objects: workloadObject,
  async run(context, { name, to_revision }, { to, ...guard }, deadline) {
    const { namespace } = guard;
    const { revisions } = await readRollout(context.system.cluster, 'deployment', namespace, name, context);
    const wanted = revisions.find(({ number }) => number === to_revision);
    const current = revisions.find(({ isCurrent }) => isCurrent);
    if (wanted === undefined || wanted.hash !== to)
      return nothing(`${name} does not keep revision ${to_revision} as it was any more.`);
    return change<Workload>(
      context,
      {
        ref: { kind: 'deployment', namespace, name },
        moved: (workload) => movedSince(guard, workload),
        risk: riskOf,
        values: () => ({ '/spec/template': asTemplate(wanted) as never }),
      },
      deadline,
      {
        text: `${name} is rolled back to revision ${to_revision}.`,
        data: current === undefined ? null : { namespace, name, to_revision: current.number, uid: guard.uid },
      },
    );
  },
  async look({ system, ...options }, { name }, { namespace, uid, template, to }) {
    const { metadata, spec } = await system.cluster.get<Workload>(
      { kind: 'deployment', namespace, name },
      options,
    );
    const hash = templateHash(spec.template);
    if (metadata.uid === uid && hash === to) return 'done';
    return metadata.uid === uid && hash === template ? 'not_done' : 'cannot_tell';
  },
  subject: workloadSubject,
  shownBy: shownByRollout,
  inverse: (data) => (data === null ? null : { tool: 'kubernetes_rollout_undo', input: data }),
  effect: (input, { to }) => ({
    steps: [
      {
        ...rolloutOf({ namespace: input.namespace, name: input.name }),
        holds: `result.template == '${to}' && ${PODS_FOLLOW}`,
        says: `${input.name} runs revision ${input.to_revision}’s content`,
      },
    ],
    holdMs: 1_000,
    timeoutMs: 180_000,
  }),
});
