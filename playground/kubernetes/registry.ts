import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { checkLimitRanges, checkNamespace, checkQuotas } from './admission.ts';
import { alreadyExists, badRequest, conflict, notFound } from './api-error.ts';
import { withDefaults } from './defaults.ts';
import { type Metadata, type StoredObject, timestamp } from './objects.ts';
import { groupVersionOf, type Resource } from './resources.ts';
import { randomSuffix } from './safe-encode.ts';
import type { Store } from './store.ts';
import { validateCreate, validateUpdate } from './validate.ts';

export interface Precondition {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface DeleteOptions {
  readonly preconditions?: Precondition;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly dryRun?: boolean;
}

/** An object as a client sends it. */
export interface SentObject {
  apiVersion?: string;
  kind?: string;
  metadata?: Partial<Metadata>;
  [field: string]: unknown;
}

type Loose = StoredObject & Record<string, unknown>;

/** Kinds whose `metadata.generation` counts the changes of their spec. */
const counted = new Set([
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'DaemonSet',
  'ReplicationController',
  'Job',
  'CronJob',
  'PodDisruptionBudget',
  'NetworkPolicy',
  'Ingress',
]);

/** Writes objects by the rules of the API server: defaults, validation, admission, versions, finalizers. */
export class Registry {
  readonly store: Store;
  /** Whether somebody ends pods that are to be deleted; if not, they are gone at once. */
  readonly hasKubelet: boolean;

  constructor(store: Store, hasKubelet: boolean) {
    this.store = store;
    this.hasKubelet = hasKubelet;
  }

  create<T extends StoredObject>(resource: Resource, sent: SentObject | T, dryRun = false): T {
    const { metadata = {} } = sent;
    if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== '') {
      throw badRequest('resourceVersion should not be set on objects to be created');
    }
    const name =
      metadata.name ??
      (metadata.generateName === undefined ? '' : `${metadata.generateName}${randomSuffix()}`);
    const { namespace, ...rest } = metadata;
    const made = withDefaults(resource, {
      ...withoutNulls(sent),
      apiVersion: groupVersionOf(resource),
      kind: resource.kind,
      metadata: {
        ...withoutNulls(rest),
        name,
        ...(resource.namespaced ? { namespace: namespace ?? 'default' } : {}),
        uid: randomUUID(),
        resourceVersion: '',
        creationTimestamp: timestamp(),
        ...(counted.has(resource.kind) ? { generation: 1 } : {}),
      },
    });
    checkNamespace(this.store, resource, made);
    checkLimitRanges(this.store, resource, made);
    validateCreate(resource, made);
    if (this.store.get(resource, made.metadata.namespace, name) !== undefined)
      throw alreadyExists(resource, name);
    checkQuotas(this.store, resource, made);
    return (dryRun ? made : this.store.put(resource, made)) as T;
  }

  /** Changes what is there: `change` is given a copy of its own. The status is written by its subresource only. */
  update<T extends StoredObject>(
    resource: Resource,
    namespace: string | null | undefined,
    name: string,
    change: (current: T) => T,
    options: { readonly subresource?: 'status' | undefined; readonly dryRun?: boolean | undefined } = {},
  ): T {
    const current = this.store.get(resource, namespace, name) as Loose | undefined;
    if (current === undefined) throw notFound(resource, name);
    const sent = withoutNulls(change(structuredClone(current) as unknown as T) as unknown as Loose);
    checkSent(resource, current, sent);
    const next = merged(resource, current, sent, options.subresource);
    if (isDeepStrictEqual(next, current)) return current as unknown as T;
    if (options.subresource === undefined) validateUpdate(resource, current, next);
    if (options.dryRun === true) return next as unknown as T;
    if (next.metadata.deletionTimestamp !== undefined && isReleased(next) && resource.kind !== 'Pod') {
      this.store.remove(resource, next);
      return next as unknown as T;
    }
    return this.store.put(resource, next) as unknown as T;
  }

  setStatus<T extends StoredObject>(resource: Resource, object: T, change: (current: T) => void): T {
    const { namespace, name } = object.metadata;
    return this.update<T>(
      resource,
      namespace,
      name,
      (current) => {
        change(current);
        return current;
      },
      { subresource: 'status' },
    );
  }

  /** What is left of it: the object when it ends later, nothing when it is gone. */
  remove(
    resource: Resource,
    namespace: string | null | undefined,
    name: string,
    options: DeleteOptions = {},
  ): StoredObject | null {
    const current = this.store.get(resource, namespace, name);
    if (current === undefined) throw notFound(resource, name);
    checkPreconditions(resource, current, options.preconditions);
    const grace = this.#grace(resource, current, options.gracePeriodSeconds);
    const finalizer = finalizerOf(resource, options.propagationPolicy);
    const finalizers = [...(current.metadata.finalizers ?? []), ...(finalizer === null ? [] : [finalizer])];
    if (grace === 0 && finalizers.length === 0) {
      if (options.dryRun !== true) this.store.remove(resource, current);
      return null;
    }
    const { deletionTimestamp, deletionGracePeriodSeconds } = current.metadata;
    // A second delete may only make it sooner.
    if (deletionTimestamp !== undefined && (deletionGracePeriodSeconds ?? 0) <= grace) return current;
    const ending = {
      ...current,
      metadata: {
        ...current.metadata,
        deletionTimestamp: timestamp(Date.now() + grace * 1000),
        deletionGracePeriodSeconds: grace,
        ...(finalizers.length === 0 ? {} : { finalizers }),
      },
    };
    return options.dryRun === true ? ending : this.store.put(resource, ending);
  }

  #grace(resource: Resource, object: StoredObject, asked: number | undefined): number {
    if (resource.kind !== 'Pod' || !this.hasKubelet) return 0;
    const { spec, status } = object as Loose & {
      spec: { nodeName?: string; terminationGracePeriodSeconds?: number };
      status?: { phase?: string };
    };
    // Nothing runs that would have to end.
    if (spec.nodeName === undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
    return asked ?? spec.terminationGracePeriodSeconds ?? 30;
  }
}

/** A copy. To the server, `null` is the same as nothing: clients in Go write it for times that are not set. */
function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(fields.map(([key, each]) => [key, withoutNulls(each)])) as T;
}

function finalizerOf({ kind }: Resource, policy: DeleteOptions['propagationPolicy']): string | null {
  if (kind === 'Namespace') return 'kubernetes';
  if (policy === 'Foreground') return 'foregroundDeletion';
  return policy === 'Orphan' ? 'orphan' : null;
}

const isReleased = ({ metadata }: StoredObject) => (metadata.finalizers ?? []).length === 0;

function checkSent(resource: Resource, current: StoredObject, sent: StoredObject): void {
  const { name } = current.metadata;
  const version = sent.metadata.resourceVersion as string | undefined;
  if (version !== undefined && version !== '' && version !== current.metadata.resourceVersion) {
    throw conflict(resource, name);
  }
  const uid = sent.metadata.uid as string | undefined;
  if (uid !== undefined && uid !== '' && uid !== current.metadata.uid) {
    throw conflict(
      resource,
      name,
      `StorageError: invalid object, Code: 4, Key: /registry/${resource.plural}/${name}, ResourceVersion: 0, ` +
        `AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
    );
  }
}

/** Only the half of the object that this write is about; what the server alone writes stays. */
function merged(resource: Resource, current: Loose, sent: Loose, subresource: 'status' | undefined): Loose {
  const { uid, creationTimestamp, resourceVersion, deletionTimestamp, deletionGracePeriodSeconds } =
    current.metadata;
  const metadata = {
    ...sent.metadata,
    ...(current.metadata.generation === undefined ? {} : { generation: current.metadata.generation }),
    name: current.metadata.name,
    uid,
    creationTimestamp,
    resourceVersion,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  };
  if (subresource === 'status') return { ...current, metadata, status: sent['status'] };
  const next = withDefaults(resource, {
    ...sent,
    apiVersion: current.apiVersion,
    kind: current.kind,
    metadata,
  }) as Loose;
  if (resource.subresources.includes('status')) {
    if (current['status'] === undefined) delete next['status'];
    else next['status'] = current['status'];
  }
  if (counted.has(resource.kind) && !isDeepStrictEqual(next['spec'], current['spec'])) {
    next.metadata.generation = (current.metadata.generation ?? 0) + 1;
  }
  return next;
}

function checkPreconditions(resource: Resource, object: StoredObject, wanted: Precondition = {}): void {
  const { uid, resourceVersion, name } = object.metadata;
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid}`,
    );
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    throw conflict(
      resource,
      name,
      `Precondition failed: ResourceVersion in precondition: ${wanted.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
    );
  }
}
