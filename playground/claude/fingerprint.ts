import { sha256 } from '../../src/safety/sha256.ts';

/** JSON without `cache_control`, which may move between requests without changing what the model reads. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (key === 'cache_control' ? undefined : inner));
}

export function fingerprint(...parts: readonly unknown[]): string {
  return sha256(parts.map((part) => `${canonical(part) ?? 'undefined'}\0`).join(''));
}
