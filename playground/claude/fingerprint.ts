import { createHash } from 'node:crypto';

/** JSON without `cache_control`, which may move between requests without changing what the model reads. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (key === 'cache_control' ? undefined : inner));
}

export function fingerprint(...parts: readonly unknown[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(canonical(part) ?? 'undefined').update('\0');
  return hash.digest('hex');
}
