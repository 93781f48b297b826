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

  /** Takes one token; the answer is how long to wait before using it. */
  reserve(): number {
    const now = this.#refill();
    this.#tokens -= 1;
    const debt = this.#tokens < 0 ? -this.#tokens / this.#perMs : 0;
    return Math.max(debt, this.#blockedUntil - now, 0);
  }

  /** Gives a token back that was not used. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  /**
   * Right before the call, after `reserve`: false when other processes have used the token up; then `reserve` knows how long
   * to wait. `leave`: so many have to be left for what matters more.
   */
  async claim(leave = 0): Promise<boolean> {
    if (!this.#shared) return true;
    const { isTaken, left } = await this.#shared.take(leave);
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

  #refill(): number {
    const now = this.#now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    return now;
  }
}

/** Posts per channel and edits per workspace, as Slack allows them (facts: about 1 message/s/channel; `chat.update` 50/min). */
export class RateLimiters {
  readonly edits: RateLimiter;
  readonly #posts = new Map<string, RateLimiter>();
  readonly #speed: number;
  readonly #open: OpenBucket | undefined;

  /**
   * @param speed times what Slack allows, for a server that allows more
   * @param open the buckets that processes share; without it this one is alone
   */
  constructor(speed = 1, open?: OpenBucket) {
    this.#speed = speed;
    this.#open = open;
    this.edits = this.#limiter('edits', { perSecond: (50 / 60) * speed, burst: 10 * speed });
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
