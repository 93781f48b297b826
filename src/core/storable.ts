/** Text as PostgreSQL can store it: without NUL, and without halves of surrogate pairs, which jsonb refuses. */
export function storable(text: string): string {
  const whole = text.includes('\u0000') ? text.replaceAll('\u0000', '') : text;
  // With the flag `u` a whole pair is one character, and only a half alone is a surrogate.
  return whole.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/**
 * The same in every string of a value at any depth, and in its keys, and without numbers that JSON cannot write; whatever else it holds
 * stays as it is.
 */
export function storableJson<T>(value: T): T {
  return walk(value) as T;
}

function walk(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  // `1e400` is a number to JSON.parse, and none to anything else.
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(walk);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), walk(item)]));
}
