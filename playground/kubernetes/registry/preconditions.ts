import type { StoredObject } from '../objects.ts';
import type { Resource } from '../resources.ts';
import { conflict } from './api-error.ts';

/** Of which object, and of which version of it, a client means to delete. */
export interface Precondition {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export function checkPreconditions(
  resource: Resource,
  object: StoredObject,
  wanted: Precondition = {},
): void {
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

/** A write that was made from another version than the present one, or from another object of that name, is refused. */
export function checkSent(resource: Resource, current: StoredObject, sent: StoredObject): void {
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
