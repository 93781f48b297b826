import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Metadata, type StoredObject, timestamp } from '../objects.ts';
import { groupVersionOf, type Resource } from '../resources.ts';
import { checkLimitRanges, checkNamespace, checkQuotas } from './admission.ts';
import { alreadyExists, badRequest, notFound } from './api-error.ts';
import { withDefaults } from './defaults.ts';
import { firstGeneration, type Loose, merged, withoutNulls } from './merge-write.ts';
import { checkPreconditions, checkSent, type Precondition } from './preconditions.ts';
import { randomSuffix } from './safe-encode.ts';
import type { Store } from './store.ts';
import { validateCreate, validateUpdate } from './validate.ts';

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
        ...firstGeneration(resource),
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

function finalizerOf({ kind }: Resource, policy: DeleteOptions['propagationPolicy']): string | null {
  if (kind === 'Namespace') return 'kubernetes';
  if (policy === 'Foreground') return 'foregroundDeletion';
  return policy === 'Orphan' ? 'orphan' : null;
}

const isReleased = ({ metadata }: StoredObject) => (metadata.finalizers ?? []).length === 0;
