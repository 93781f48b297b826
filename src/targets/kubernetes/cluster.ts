import { OpsError } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import type { KubernetesObject } from './objects.ts';

/** The kinds of object that Sentry reads, by the names of `kubectl`. Secrets are not among them. */
export const resources = {
  pod: core('pods'),
  deployment: named('apps', 'v1', 'deployments'),
  replicaset: named('apps', 'v1', 'replicasets'),
  statefulset: named('apps', 'v1', 'statefulsets'),
  daemonset: named('apps', 'v1', 'daemonsets'),
  controllerrevision: named('apps', 'v1', 'controllerrevisions'),
  job: named('batch', 'v1', 'jobs'),
  cronjob: named('batch', 'v1', 'cronjobs'),
  service: core('services'),
  endpoints: core('endpoints'),
  ingress: named('networking.k8s.io', 'v1', 'ingresses'),
  networkpolicy: named('networking.k8s.io', 'v1', 'networkpolicies'),
  configmap: core('configmaps'),
  horizontalpodautoscaler: named('autoscaling', 'v2', 'horizontalpodautoscalers'),
  poddisruptionbudget: named('policy', 'v1', 'poddisruptionbudgets'),
  resourcequota: core('resourcequotas'),
  limitrange: core('limitranges'),
  persistentvolumeclaim: core('persistentvolumeclaims'),
  event: core('events'),
  podmetrics: named('metrics.k8s.io', 'v1beta1', 'pods'),
  node: { ...core('nodes'), isNamespaced: false },
  nodemetrics: { ...named('metrics.k8s.io', 'v1beta1', 'nodes'), isNamespaced: false },
  namespace: { ...core('namespaces'), isNamespaced: false },
} as const satisfies Readonly<Record<string, Resource>>;

export type ResourceKind = keyof typeof resources;

interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

function named(group: string, version: string, plural: string): Resource {
  return { group, version, plural, isNamespaced: true };
}

function core(plural: string): Resource {
  return named('', 'v1', plural);
}

/** Where an object is: `namespace` is left out for what is the whole cluster's. */
export interface ObjectRef {
  readonly kind: ResourceKind;
  readonly namespace?: string;
  readonly name: string;
}

/** What may be done to which resources. */
export interface Right {
  readonly verb: 'get' | 'list' | 'patch' | 'delete';
  /** Empty for the core group. */
  readonly group: string;
  /** `pods`, `pods/log`. */
  readonly resource: string;
  /** Null: of the whole cluster. */
  readonly namespace: string | null;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The token of the next page; null at the end. */
  readonly next: string | null;
}

/** Everything of a list, as far as it was read. */
export interface Listed<T> {
  readonly items: readonly T[];
  /** False: there are more than were read. */
  readonly isComplete: boolean;
}

export interface PodLogOptions {
  readonly container?: string;
  /** That of the container before the last restart. */
  readonly previous: boolean;
  readonly tail: number;
  readonly sinceSeconds?: number;
}

export interface PodLog {
  /** Oldest first, each with the time at which it was written in front. */
  readonly lines: readonly string[];
  /** False: it was cut at the most that is read. */
  readonly isComplete: boolean;
}

export interface ChangeOptions extends SessionOptions {
  /** The API server admits and validates it, and changes nothing. */
  readonly dryRun?: boolean;
}

/**
 * A cluster as tools see it. Everything throws OpsError:
 * `KUBERNETES_NOT_FOUND` for an object that is not there, `KUBERNETES_NOT_SERVED` for an API that the server does not have,
 * `KUBERNETES_FORBIDDEN` for a right that is missing (its message is read by `advise.ts`), `KUBERNETES_UNAUTHORIZED` for a
 * credential that does not count, `KUBERNETES_CONFLICT` when a precondition does not hold, `KUBERNETES_GONE` for a page that
 * has expired, `KUBERNETES_BUSY` when it wants to be asked later, `KUBERNETES_AWAY` when it does not answer, or not to the
 * end, and `KUBERNETES_<status>` for whatever else it refuses.
 */
export interface Cluster {
  /** `Kubernetes v1.31.2`. */
  version(options: SessionOptions): Promise<string>;
  /** What stays the cluster's own for as long as it lives. */
  identity(options: SessionOptions): Promise<string>;
  get<T extends KubernetesObject>(ref: ObjectRef, options: SessionOptions): Promise<T>;
  /** One page. `after`: the token of the page before. */
  page<T extends KubernetesObject>(
    kind: ResourceKind,
    wanted: ListOptions & { readonly limit: number; readonly after?: string | undefined },
    options: SessionOptions,
  ): Promise<Page<T>>;
  /** All pages, up to 2,000 objects. A list that expires while it is read is read anew. */
  list<T extends KubernetesObject>(
    kind: ResourceKind,
    wanted: ListOptions,
    options: SessionOptions,
  ): Promise<Listed<T>>;
  log(namespace: string, pod: string, wanted: PodLogOptions, options: SessionOptions): Promise<PodLog>;
  /**
   * Sets values by JSON pointer (RFC 6901), if the object still is of this version: else KUBERNETES_CONFLICT, and nothing
   * has changed.
   */
  change<T extends KubernetesObject>(
    ref: ObjectRef,
    resourceVersion: string,
    values: Readonly<Record<string, Json>>,
    options: ChangeOptions,
  ): Promise<T>;
  /** Whether the account that asks has a right, by the cluster's own word. */
  may(right: Right, options: SessionOptions): Promise<boolean>;
  /**
   * Removes an object, if it still is this one and not another of its name, and, where a version is given, nothing of it has
   * changed since: else KUBERNETES_CONFLICT.
   */
  remove(
    ref: ObjectRef,
    only: { readonly uid: string; readonly resourceVersion?: string },
    options: ChangeOptions,
  ): Promise<void>;
}

/** Undefined for an object that is not there, or not any more. */
export async function orGone<T extends KubernetesObject>(
  cluster: Cluster,
  ref: ObjectRef,
  options: SessionOptions,
): Promise<T | undefined> {
  try {
    return await cluster.get<T>(ref, options);
  } catch (error) {
    if (error instanceof OpsError && error.code === 'KUBERNETES_NOT_FOUND') return undefined;
    throw error;
  }
}
