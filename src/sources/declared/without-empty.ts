/**
 * The same without fields that say nothing (null, a blank text), at any depth. To JSONata a null is a value: `lastTimestamp ?? eventTime`
 * would stop at it.
 */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (isEmpty(item) ? [] : [[key, withoutEmpty(item)]])),
  );
}

const isEmpty = (item: unknown): boolean => item === null || (typeof item === 'string' && item.trim() === '');
