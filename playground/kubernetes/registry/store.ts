import type { StoredObject } from '../objects.ts';
import { type Resource, storageOf } from '../resources.ts';
import { expired, qualified } from './api-error.ts';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  readonly object: StoredObject;
  /** What it was before, for those who watch by a selector. */
  readonly previous: StoredObject | undefined;
}

interface Kept extends Change {
  readonly resource: string;
}

/** As many changes as can be watched from; etcd keeps five minutes of them. */
const HISTORY = 2_000;

/**
 * What etcd is to a real cluster: objects by resource, namespace and name under one counting revision, and the latest
 * changes. Everything it gives out is frozen.
 */
export class Store {
  // A young cluster has a history already: no client may take small revisions for times.
  #revision = 1_000;
  #compacted = 1_000;
  #history: Kept[] = [];
  readonly #objects = new Map<string, Map<string, StoredObject>>();
  readonly #listeners = new Set<(change: Change, resource: string) => void>();

  get revision(): number {
    return this.#revision;
  }

  get(resource: Resource, namespace: string | null | undefined, name: string): StoredObject | undefined {
    return this.#of(resource).get(keyOf(namespace, name));
  }

  /** In the order of their keys, as etcd gives them. */
  list<T extends StoredObject>(resource: Resource, namespace?: string): T[] {
    const all = [...this.#of(resource)].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    const those =
      namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
    return those as T[];
  }

  put<T extends StoredObject>(resource: Resource, object: T): T {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    const previous = this.#of(resource).get(key);
    const revision = ++this.#revision;
    const stored = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
    this.#of(resource).set(key, stored);
    this.#tell(resource, {
      type: previous === undefined ? 'ADDED' : 'MODIFIED',
      revision,
      object: stored,
      previous,
    });
    return stored;
  }

  remove(resource: Resource, object: StoredObject): void {
    const { namespace, name } = object.metadata;
    const previous = this.#of(resource).get(keyOf(namespace, name));
    if (previous === undefined) return;
    this.#of(resource).delete(keyOf(namespace, name));
    const revision = ++this.#revision;
    const last = freeze({
      ...previous,
      metadata: { ...previous.metadata, resourceVersion: String(revision) },
    });
    this.#tell(resource, { type: 'DELETED', revision, object: last, previous });
  }

  /** The changes after a revision; throws 410 when they are no longer kept. */
  since(resource: Resource, revision: number): readonly Change[] {
    if (revision < this.#compacted) {
      throw expired(`too old resource version: ${revision} (${this.#compacted})`);
    }
    const name = qualified(storageOf(resource));
    return this.#history.filter((each) => each.resource === name && each.revision > revision);
  }

  isCompacted(revision: number): boolean {
    return revision < this.#compacted;
  }

  /** Forgets the changes until now, as etcd does every five minutes. */
  compact(): void {
    this.#history = [];
    this.#compacted = ++this.#revision;
  }

  /** Each change of a resource, or of all; ends it with what it returns. */
  onChange(resource: Resource | null, listener: (change: Change) => void): () => void {
    const name = resource === null ? null : qualified(storageOf(resource));
    const each = (change: Change, changed: string) => {
      if (name === null || changed === name) listener(change);
    };
    this.#listeners.add(each);
    return () => this.#listeners.delete(each);
  }

  #of(resource: Resource): Map<string, StoredObject> {
    const name = qualified(storageOf(resource));
    const those = this.#objects.get(name) ?? new Map<string, StoredObject>();
    this.#objects.set(name, those);
    return those;
  }

  #tell(resource: Resource, change: Change): void {
    const name = qualified(storageOf(resource));
    this.#history.push({ ...change, resource: name });
    if (this.#history.length > HISTORY) {
      const dropped = this.#history.splice(0, this.#history.length - HISTORY);
      this.#compacted = dropped.at(-1)?.revision ?? this.#compacted;
    }
    for (const listener of this.#listeners) listener(change, name);
  }
}

const keyOf = (namespace: string | null | undefined, name: string) => `${namespace ?? ''}/${name}`;

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const each of Object.values(value)) freeze(each);
    Object.freeze(value);
  }
  return value;
}
