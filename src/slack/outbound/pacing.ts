import type { OpenBucket, SharedBucket } from './shared-pace.ts';

/**
 * A token bucket that hands out moments in the order they are asked for. Times are milliseconds of `now`. Where processes
 * share it, the tokens here are an estimate, and `claim` asks the record for one.
 */
export class RateLimiter {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #now: () => number;
  readonly #shared: SharedBucket | undefined;
  #tokens: number;
  #at: number;
  #blockedUntil = 0;

  constructor(options: {
    readonly perSecond: number;
    readonly burst: number;
    readonly now?: () => number;
    readonly shared?: SharedBucket | undefined;
  }) {
    this.#perMs = options.perSecond / 1000;
    this.#burst = options.burst;
    this.#now = options.now ?? (() => performance.now());
    this.#shared = options.shared;
    this.#tokens = options.burst;
    this.#at = this.#now();
  }

  /** Takes one token; the answer is how long to wait before using it. `leave`: so many have to be left for what matters more. */
  reserve(leave = 0): number {
    const now = this.#refill();
    this.#tokens -= 1;
    const debt = Math.max(0, this.#left(leave) - this.#tokens) / this.#perMs;
    return Math.max(debt, this.#blockedUntil - now, 0);
  }

  /** Gives a token back that was not used. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  /**
   * Right before the call, after `reserve`: false when other processes have used the token up; then `reserve` knows how long
   * to wait.
   */
  async claim(leave = 0): Promise<boolean> {
    if (!this.#shared) return true;
    const { isTaken, left } = await this.#shared.take(this.#left(leave));
    this.#refill();
    this.#tokens = Math.min(this.#burst, left);
    return isTaken;
  }

  /** Tokens that could be taken now without waiting; 0 while blocked. */
  available(): number {
    const now = this.#refill();
    return now < this.#blockedUntil ? 0 : Math.max(0, Math.floor(this.#tokens));
  }

  /** Slack said to wait (429 Retry-After): nothing goes out before. */
  async block(ms: number): Promise<void> {
    this.#blockedUntil = Math.max(this.#blockedUntil, this.#now() + ms);
    await this.#shared?.block(ms);
  }

  /** A small bucket can leave less: it would never hold what is asked. */
  #left(leave: number): number {
    return Math.min(leave, this.#burst - 1);
  }

  #refill(): number {
    const now = this.#now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    return now;
  }
}

/** Slack takes about 50 edits a minute of an app; the rest is for calls that arrive late, next to others. */
export const EDITS_PER_MINUTE = 45;
/** An incident edits once in so long, over all its messages and processes. */
const EDIT_GAP_MS = 3_000;

/**
 * Posts per channel and edits per workspace, as Slack allows them. Posts: one a second, four at once, so at most 64 in any 60 s of a
 * channel (Slack: about one a second, and short bursts).
 */
export class RateLimiters {
  readonly edits: RateLimiter;
  /** Between two edits of an incident's progress, and of any one message. */
  readonly editGapMs: number;
  readonly #posts = new Map<string, RateLimiter>();
  readonly #speed: number;
  readonly #open: OpenBucket | undefined;

  /**
   * @param speed times what Slack allows, for a server that allows more
   * @param open the buckets that processes share; without it this one is alone
   */
  constructor(speed = 1, open?: OpenBucket, editsPerMinute = EDITS_PER_MINUTE) {
    this.#speed = speed;
    this.#open = open;
    this.editGapMs = EDIT_GAP_MS / speed;
    this.edits = this.#limiter('edits', ofAMinute(editsPerMinute, speed));
  }

  posts(channel: string): RateLimiter {
    let pace = this.#posts.get(channel);
    if (!pace) {
      pace = this.#limiter(`posts:${channel}`, { perSecond: this.#speed, burst: 4 * this.#speed });
      this.#posts.set(channel, pace);
    }
    return pace;
  }

  #limiter(key: string, size: { readonly perSecond: number; readonly burst: number }): RateLimiter {
    return new RateLimiter({ ...size, shared: this.#open?.(key, size) });
  }
}

/** A bucket of which no 60 s see more than `most`: what it holds at once, and what comes in meanwhile. */
function ofAMinute(most: number, speed: number): { readonly perSecond: number; readonly burst: number } {
  const burst = Math.max(1, Math.floor(most / 6));
  return { perSecond: ((most - burst) / 60) * speed, burst };
}
