/** Text as PostgreSQL can store it: without NUL, and without halves of surrogate pairs, which jsonb refuses. */
export function storable(text: string): string {
  return UNSTORABLE.test(text) ? text.replaceAll('\u0000', '').replace(/\p{Surrogate}/gu, '\uFFFD') : text;
}

/** The same in every string of a value at any depth, and in its keys; whatever else it holds stays as it is. */
export function storableJson<T>(value: T): T {
  return walk(value) as T;
}

/** A half of a pair counts only alone: with the flag `u` a whole pair is one character. */
const UNSTORABLE = /[\u0000\p{Surrogate}]/u;

function walk(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(walk);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), walk(item)]));
}
