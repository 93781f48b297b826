import type { Json } from './tool-call.ts';

/** JSON with sorted keys and no spaces: one text for one value, so that its hash means something. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(',')}]`;
  // A field that is undefined is not there, in JSON and in the database: the hash must not see it either.
  const entries = Object.entries(value as Record<string, Json | undefined>)
    .filter((entry): entry is [string, Json] => entry[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}
