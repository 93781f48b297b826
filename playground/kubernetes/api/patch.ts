import { applyPatch, type Operation } from 'rfc6902';
import { badRequest, unsupportedMediaType } from '../registry/api-error.ts';
import { isMap, type JsonMap, strategicMerge } from './strategic-merge.ts';

export const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
] as const;

/** The object as the patch makes it; the object itself stays as it is. */
export function applyPatchOf(type: string, object: object, patch: unknown): JsonMap {
  const copy = structuredClone(object) as JsonMap;
  switch (type) {
    case 'application/json-patch+json':
      return jsonPatch(copy, patch);
    case 'application/merge-patch+json':
      return mergePatch(copy, mapOf(patch));
    case 'application/strategic-merge-patch+json':
      return strategicMerge(copy, mapOf(patch));
    default:
      throw unsupportedMediaType(patchTypes);
  }
}

function mapOf(patch: unknown): JsonMap {
  if (!isMap(patch)) throw badRequest('error decoding patch: the patch must be a JSON object');
  return patch;
}

function jsonPatch(copy: JsonMap, patch: unknown): JsonMap {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: the patch must be a JSON array');
  const failed = applyPatch(copy, patch as Operation[]).find((error) => error !== null);
  if (failed === undefined) return copy;
  // The real server answers with 422 here, also when a `test` fails.
  throw jsonPatchFailed(failed.message);
}

function jsonPatchFailed(message: string) {
  const error = badRequest(`the server rejected our request due to an error in our request: ${message}`);
  return Object.assign(error, { code: 422, reason: 'Invalid', details: {} });
}

/** RFC 7396. */
function mergePatch(target: JsonMap, patch: JsonMap): JsonMap {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete target[key];
    else if (isMap(value)) target[key] = mergePatch(isMap(target[key]) ? target[key] : {}, value);
    else target[key] = value;
  }
  return target;
}
