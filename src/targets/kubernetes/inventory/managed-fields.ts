import { isObject } from '../../../core/json-of.ts';
import { momentOf } from '../../inventory-parts.ts';
import type { KubernetesObject } from '../objects.ts';

/** Who wrote a field of an object last, and when, where the API server keeps that; nothing where it does not. */
export function lastWrite(
  { metadata }: KubernetesObject,
  ...path: readonly string[]
): { readonly since?: string; readonly by?: string } {
  const [last] = (metadata.managedFields ?? [])
    .filter(({ subresource, fieldsV1 }) => subresource !== 'status' && has(fieldsV1, path))
    .flatMap(({ manager, time }) => {
      const since = momentOf(time);
      return since === undefined ? [] : [{ since, ...(manager === undefined ? {} : { by: manager }) }];
    })
    .toSorted((a, b) => (a.since < b.since ? 1 : -1));
  return last ?? {};
}

function has(fields: unknown, [name, ...below]: readonly string[]): boolean {
  if (name === undefined) return true;
  const key = `f:${name}`;
  return isObject(fields) && Object.hasOwn(fields, key) && has(fields[key], below);
}
