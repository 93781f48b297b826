import type { TouchedObject } from '../../../core/denial.ts';
import { OpsError } from '../../../core/errors.ts';
import type { ShownBy, Subject } from '../../../tools/define.ts';
import type { Workload } from '../objects.ts';
import { templateHash } from '../template.ts';
import { heldBack, type WorkloadKind } from '../workload.ts';

/**
 * What must not have moved: this very workload and what it runs. Its number of replicas may, as an autoscaler changes it all
 * the time; so does its state.
 */
export type WorkloadGuard = {
  readonly uid: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** See `templateHash`. */
  readonly template: string;
};

export const guardOf = (kind: WorkloadKind, { metadata, spec }: Workload): WorkloadGuard => ({
  uid: metadata.uid,
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  template: templateHash(spec.template),
});

/** Why what was approved would not be what happens now; undefined: it would be. */
export function movedSince({ uid, name, template }: WorkloadGuard, workload: Workload): string | undefined {
  if (workload.metadata.uid !== uid) return `${name} is another one of the same name by now.`;
  return templateHash(workload.spec.template) === template
    ? heldBack(workload)
    : `what ${name} runs was changed in the meantime.`;
}

/** The name outlives one that is made anew: who said No to it meant what is called so. */
export const workloadObject = (
  _input: unknown,
  { kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string },
): readonly TouchedObject[] => [
  { kind, key: `${namespace}/${name}`, label: `${kind} ${name} of ${namespace}` },
];

interface Named {
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export const workloadSubject = ({ name }: Named): Subject => ({ kind: 'name', name });

/** The read that shows it. */
export const rolloutOf = ({ kind = 'deployment', namespace, name }: Named) => ({
  tool: 'kubernetes_rollout',
  input: { kind, ...(namespace === undefined ? {} : { namespace }), name },
});

export const shownByRollout = (input: Named): ShownBy => ({
  ...rolloutOf(input),
  measures: ['rolled_out', 'ill_pods'],
});

/** Throws OpsError GONE when a change of what it runs would replace none of its pods. */
export function replaceable(workload: Workload): void {
  const why = heldBack(workload);
  if (why === undefined) return;
  throw new OpsError('GONE', why, {
    hint: 'Look at its update strategy; a paused rollout has to be resumed.',
  });
}

/**
 * Holds once pods are made of what it is to run. That it was written down alone is no effect: a rollout may be held back, or
 * pods be refused.
 */
export const PODS_FOLLOW =
  'result.observed && !result.paused && (result.desired == 0 || result.newest_pods > 0)';

/** As `kubectl` takes it. */
export const inNamespace = (namespace: string | undefined): string =>
  namespace === undefined ? '' : ` --namespace ${namespace}`;
