import { isIPv6 } from 'node:net';
import type { RateLimit } from './ports.ts';

export interface RateLimitOptions {
  /** Requests a minute and source that may be made: with the right secret or, where none is asked for, at all. */
  readonly known: number;
  /** The others: refused, unknown paths, and what asks for no secret. */
  readonly strangers: number;
  /** How many processes share these numbers now; absent: this one alone. */
  readonly processes?: () => number;
  /** Milliseconds, any origin. */
  readonly now?: () => number;
}

/** Sources remembered at once; beyond it the longest silent one is forgotten, which gives it a full bucket again. */
const SOURCES = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * A bucket of tokens per source and kind of request, refilled evenly: a minute's worth at once, then the rate. Strangers
 * and those who know the secret are counted apart, so that nobody who guesses from behind the same proxy keeps the alerts
 * of others out. In this process, without asking anybody: of several, each allows its share. What reaches the systems is
 * throttled over all processes.
 */
export function createRateLimit({
  known,
  strangers,
  processes = () => 1,
  now = () => performance.now(),
}: RateLimitOptions): RateLimit {
  const buckets = new Map<string, Bucket>();

  function take(key: string, perMinute: number): { ok: true } | { ok: false; retryAfterSeconds: number } {
    const at = now();
    const bucket = buckets.get(key) ?? { tokens: perMinute, at };
    const perMs = perMinute / 60_000;
    bucket.tokens = Math.min(perMinute, bucket.tokens + (at - bucket.at) * perMs);
    bucket.at = at;
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > SOURCES) {
      const [oldest] = buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
    }
    if (bucket.tokens < 1)
      return { ok: false, retryAfterSeconds: Math.ceil((1 - bucket.tokens) / perMs / 1_000) };
    bucket.tokens -= 1;
    return { ok: true };
  }

  return ({ peer, kind }) => {
    const share = (kind === 'stranger' ? strangers : known) / Math.max(1, processes());
    // Less than one would never be reached.
    return take(`${kind} ${sourceOf(peer)}`, Math.max(1, share));
  };
}

/** One machine may have all addresses of an IPv6 /64. */
function sourceOf(peer: string): string {
  const plain = peer.replace(/^::ffff:/, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const left = head.split(':');
  const right = tail === undefined ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((part) => Number.parseInt(part || '0', 16))
    .join(':');
}
