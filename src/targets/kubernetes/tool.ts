import { z } from 'zod';
import { type Refusal, refuse } from '../../core/errors.ts';
import { toolsOf } from '../../tools/define.ts';
import type { Cluster } from './cluster.ts';

/** What the tools of a cluster work with. */
export interface KubernetesSystem {
  readonly cluster: Cluster;
  /** Those under care: the others are neither read nor changed. */
  readonly namespaces: readonly string[];
  /** Whether changes may be proposed. */
  readonly acts: boolean;
  readonly maxReplicas: number;
}

export const kubernetesTool = toolsOf<KubernetesSystem>('kubernetes', 'kubernetes');

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/; nothing else goes into a path of the API. */
export const objectName = z
  .string()
  .regex(/^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/, 'expected the name of an object');

/** May be left out where one namespace alone is under care. */
export const namespaceName = z
  .string()
  .regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/, 'expected the name of a namespace')
  .optional();

interface Asked {
  readonly target: { readonly name: string };
  readonly system: KubernetesSystem;
}

/** For the rules of what is read in one namespace. */
export function inCare(
  { target, system: { namespaces } }: Asked,
  { namespace }: { readonly namespace?: string | undefined },
): Refusal | undefined {
  const cared = `Those under care of ${target.name}: ${namespaces.join(', ')}.`;
  if (namespace === undefined)
    return namespaces.length === 1
      ? undefined
      : refuse('KUBERNETES_NAMESPACE', `Name the namespace. ${cared}`);
  return namespaces.includes(namespace)
    ? undefined
    : refuse('KUBERNETES_NOT_IN_CARE', `Namespace ${namespace} is not under care. ${cared}`);
}

/** The same where none means all of them. */
export const allInCare: typeof inCare = (context, { namespace }) =>
  namespace === undefined ? undefined : inCare(context, { namespace });

/** The namespace that `inCare` has let through. */
export const namespaceOf = (
  { namespaces }: Pick<KubernetesSystem, 'namespaces'>,
  namespace: string | undefined,
): string => namespace ?? namespaces[0] ?? '';

/** For the rules of what changes anything. */
export const mayAct = ({ target, system }: Asked): Refusal | undefined =>
  system.acts
    ? undefined
    : refuse(
        'KUBERNETES_READ_ONLY',
        `${target.name} may only be read: set "acts: true" for it in sentry.yaml to have changes proposed.`,
      );
