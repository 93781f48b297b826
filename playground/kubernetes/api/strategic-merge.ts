/**
 * Kubernetes' own way to patch: lists of objects are merged by a key of each, where the API declares one. Every other list
 * is replaced.
 */

export interface JsonMap {
  [key: string]: unknown;
}

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `patchMergeKey` of the API types (k8s.io/api), by the name of the field. */
const mergeKeys: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  // Of a container and of a service.
  ports: ['containerPort', 'port'],
  imagePullSecrets: ['name'],
  secrets: ['name'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey'],
  resourceClaims: ['name'],
  conditions: ['type'],
  addresses: ['type'],
  ownerReferences: ['uid'],
  podIPs: ['ip'],
  hostIPs: ['ip'],
};
/** Lists of plain values that are merged. */
const mergedValues = new Set(['finalizers', 'podCIDRs']);

export function strategicMerge(target: JsonMap, patch: JsonMap): JsonMap {
  if (patch['$patch'] === 'replace') return without(patch, '$patch');
  if (patch['$patch'] === 'delete') return {};
  for (const [key, value] of Object.entries(patch)) mergeField(target, key, value, patch);
  return target;
}

function mergeField(target: JsonMap, key: string, value: unknown, patch: JsonMap): void {
  if (key === '$patch' || key.startsWith('$setElementOrder/')) return;
  if (key === '$retainKeys') {
    for (const other of Object.keys(target)) if (!(value as string[]).includes(other)) delete target[other];
  } else if (key.startsWith('$deleteFromPrimitiveList/')) {
    const list = key.slice('$deleteFromPrimitiveList/'.length);
    const gone = value as unknown[];
    if (Array.isArray(target[list])) target[list] = target[list].filter((each) => !gone.includes(each));
  } else if (value === null) delete target[key];
  else if (isMap(value)) target[key] = strategicMerge(isMap(target[key]) ? target[key] : {}, value);
  else if (Array.isArray(value))
    target[key] = mergeList(key, target[key], value, patch[`$setElementOrder/${key}`]);
  else target[key] = value;
}

function mergeList(field: string, current: unknown, patch: unknown[], order: unknown): unknown[] {
  const before = Array.isArray(current) ? (current as unknown[]) : [];
  if (mergedValues.has(field)) return [...new Set([...before, ...patch])];
  const key = mergeKeys[field]?.find((each) =>
    [...patch, ...before].every((item) => isMap(item) && (each in item || '$patch' in item)),
  );
  if (key === undefined || !patch.every(isMap)) return patch;
  if (patch.some((item) => item['$patch'] === 'replace' && !(key in item))) {
    return patch.filter((item) => !('$patch' in item));
  }
  return inOrder(mergeByKey(before as JsonMap[], patch, key), order, key);
}

function mergeByKey(before: JsonMap[], patch: readonly JsonMap[], key: string): JsonMap[] {
  const merged = [...before];
  for (const item of patch) {
    const at = merged.findIndex((each) => each[key] === item[key]);
    if (item['$patch'] === 'delete') {
      if (at >= 0) merged.splice(at, 1);
    } else if (at >= 0) merged[at] = strategicMerge(merged[at] ?? {}, item);
    else merged.push(strategicMerge({}, item));
  }
  return merged;
}

/** What the sender knew comes in its order, the rest behind. */
function inOrder(items: JsonMap[], order: unknown, key: string): JsonMap[] {
  if (!Array.isArray(order)) return items;
  const place = (item: JsonMap) => {
    const at = order.findIndex((each) => isMap(each) && each[key] === item[key]);
    return at < 0 ? order.length : at;
  };
  return items.toSorted((a, b) => place(a) - place(b));
}

function without(map: JsonMap, key: string): JsonMap {
  const { [key]: _, ...rest } = map;
  return rest;
}
