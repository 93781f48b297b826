import type { CoreEvent, StoredObject } from '../objects.ts';
import { type Resource, resource, resources } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';

/** What is kept: an object of a group that only shows it differently would be seen twice. */
const kept = resources.filter(({ verbs }) => verbs.includes('create') && verbs.includes('list'));

/** Deletes what has lost its owner, finishes deletes that wait for others, and empties namespaces that end. */
export function createGarbageCollector(plane: ControlPlane): Controller {
  return () => {
    forgetEvents(plane);
    const all = kept.flatMap((kind) => plane.store.list(kind).map((object) => ({ kind, object })));
    const alive = new Set(all.map(({ object }) => object.metadata.uid));
    for (const { kind, object } of all) {
      const owners = object.metadata.ownerReferences ?? [];
      const isOrphan = owners.length > 0 && owners.every(({ uid }) => !alive.has(uid));
      if (isOrphan) removeOnce(plane, kind, object);
      else if (object.metadata.deletionTimestamp !== undefined) finishDelete(plane, kind, object, all);
    }
  };
}

const EVENT_LIFE_MS = 60 * 60_000;

/** Events are kept for an hour, as the real server keeps them. */
function forgetEvents({ store }: ControlPlane): void {
  const events = resource('events', '');
  const oldest = Date.now() - EVENT_LIFE_MS;
  for (const event of store.list<CoreEvent>(events)) {
    if (Date.parse(event.lastTimestamp ?? event.metadata.creationTimestamp) < oldest)
      store.remove(events, event);
  }
}

type Kept = readonly { readonly kind: Resource; readonly object: StoredObject }[];

const removeOnce = ({ store, registry }: ControlPlane, kind: Resource, { metadata }: StoredObject): void => {
  const isThere = store.get(kind, metadata.namespace, metadata.name)?.metadata.uid === metadata.uid;
  if (isThere && metadata.deletionTimestamp === undefined)
    registry.remove(kind, metadata.namespace, metadata.name);
};

function finishDelete(plane: ControlPlane, kind: Resource, object: StoredObject, all: Kept): void {
  const { finalizers = [], uid, name } = object.metadata;
  const owned = all.filter((each) =>
    each.object.metadata.ownerReferences?.some((owner) => owner.uid === uid),
  );
  if (finalizers.includes('orphan')) {
    for (const each of owned) disown(plane, each.kind, each.object, uid);
    release(plane, kind, object, 'orphan');
  } else if (finalizers.includes('foregroundDeletion')) {
    for (const each of owned) removeOnce(plane, each.kind, each.object);
    if (owned.length === 0) release(plane, kind, object, 'foregroundDeletion');
  } else if (kind === resource('namespaces')) {
    const inside = all.filter((each) => each.object.metadata.namespace === name);
    for (const each of inside) removeOnce(plane, each.kind, each.object);
    if (inside.length === 0) release(plane, kind, object, 'kubernetes');
    else
      plane.registry.setStatus(kind, object, (current) =>
        Object.assign(current, { status: { phase: 'Terminating' } }),
      );
  }
}

function disown({ registry }: ControlPlane, kind: Resource, { metadata }: StoredObject, owner: string): void {
  registry.update(kind, metadata.namespace, metadata.name, (current) => {
    const left = (current.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner);
    return { ...current, metadata: { ...current.metadata, ownerReferences: left } };
  });
}

function release(
  { registry }: ControlPlane,
  kind: Resource,
  { metadata }: StoredObject,
  finalizer: string,
): void {
  registry.update(kind, metadata.namespace, metadata.name, (current) => {
    const finalizers = (current.metadata.finalizers ?? []).filter((each) => each !== finalizer);
    return { ...current, metadata: { ...current.metadata, finalizers } };
  });
}
