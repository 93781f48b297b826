/** A token bucket that hands out moments in the order they are asked for. Times are milliseconds of `now`. */
export class RateLimiter {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;
  #blockedUntil = 0;

  constructor(options: { readonly perSecond: number; readonly burst: number; readonly now?: () => number }) {
    this.#perMs = options.perSecond / 1000;
    this.#burst = options.burst;
    this.#now = options.now ?? (() => performance.now());
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

  /** Tokens that could be taken now without waiting; 0 while blocked. */
  available(): number {
    const now = this.#refill();
    return now < this.#blockedUntil ? 0 : Math.max(0, Math.floor(this.#tokens));
  }

  /** Slack said to wait (429 Retry-After): nothing goes out before. */
  block(ms: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, this.#now() + ms);
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

  /** `speed`: times what Slack allows, for a server that allows more. */
  constructor(speed = 1) {
    this.#speed = speed;
    this.edits = new RateLimiter({ perSecond: (50 / 60) * speed, burst: 10 * speed });
  }

  posts(channel: string): RateLimiter {
    let pace = this.#posts.get(channel);
    if (!pace)
      this.#posts.set(channel, (pace = new RateLimiter({ perSecond: this.#speed, burst: 4 * this.#speed })));
    return pace;
  }
}
