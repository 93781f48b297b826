import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { EntryOf, TargetConfig } from '../kind.ts';
import { readCredentialFile } from '../read-credential-file.ts';
import type { KubeconfigFile } from './connect/kubeconfig.ts';

export interface KubernetesConfig extends TargetConfig {
  /** Where the API server is and by which account it is spoken to; null: what the cluster gives to Sentry's own pod. */
  readonly kubeconfig: KubeconfigFile | null;
  /** The namespaces under care; the others are neither read nor changed. */
  readonly namespaces: readonly string[];
  /** What may be proposed: nothing is, where it is false. */
  readonly acts: boolean;
  /** No workload may be scaled beyond it. */
  readonly maxReplicas: number;
}

const namespace = z
  .string()
  .regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/, 'expected the name of a namespace');

/** The fields of a cluster in `sentry.yaml`, besides those of every target. */
export const kubernetesFields = {
  /** The credentials; those that the cluster gives to Sentry's own pod when left out. */
  kubeconfig_file: z.string().regex(/^\//, 'expected an absolute path').optional(),
  /** Of the kubeconfig; its current one when left out. */
  context: z.string().min(1).optional(),
  namespaces: z.array(namespace).min(1, 'name at least one namespace that may be read').max(100),
  /** Whether changes may be proposed. */
  acts: z.boolean().default(false),
  /** How far a workload may be scaled. */
  max_replicas: z.number().int().min(1).max(1_000).default(10),
} as const;

/** From its entry in `sentry.yaml`; what is wrong across its fields, as `path: message`. */
export function readKubernetes(
  { kubeconfig_file: file, context, max_replicas: maxReplicas, ...target }: EntryOf<typeof kubernetesFields>,
  env: Readonly<Record<string, string | undefined>>,
): KubernetesConfig | readonly string[] {
  if (file === undefined && context !== undefined) return ['context: belongs to a kubeconfig_file'];
  if (file === undefined)
    // Every pod is told where its cluster is.
    return env['KUBERNETES_SERVICE_HOST']
      ? { ...target, maxReplicas, kubeconfig: null }
      : ['kubeconfig_file: name one, as Sentry does not run in a cluster'];
  try {
    const kubeconfig = { path: file, text: readCredentialFile(file), context };
    return { ...target, maxReplicas, kubeconfig };
  } catch (error) {
    return [`kubeconfig_file: ${messageOf(error)}`];
  }
}
