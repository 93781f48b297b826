/**
 * Work by key, each key at its time and once at a time, some keys side by side. One worker more is for those that nobody has looked
 * at: one of them may be what matters most, while all others wait for something.
 */
export class DueQueue<K> {
  readonly #run: (key: K) => Promise<void>;
  readonly #rank: (key: K) => number;
  readonly #isUnread: (key: K) => boolean;
  readonly #workers: number;
  /** When each is due, by `performance.now()`. */
  readonly #due = new Map<K, number>();
  readonly #running = new Map<K, Promise<void>>();
  #looking: K | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param options.run never rejects. @param options.rank lower goes first; of equals, what was added first. */
  constructor(options: {
    readonly workers: number;
    readonly run: (key: K) => Promise<void>;
    readonly rank: (key: K) => number;
    readonly isUnread?: (key: K) => boolean;
  }) {
    this.#workers = options.workers;
    this.#run = options.run;
    this.#rank = options.rank;
    this.#isUnread = options.isUnread ?? (() => false);
  }

  /** Runs `key` after so many ms, or earlier where it is due earlier; after its present run where it is running. */
  add(key: K, inMs = 0): void {
    const due = performance.now() + inMs;
    this.#due.set(key, Math.min(due, this.#due.get(key) ?? Number.POSITIVE_INFINITY));
    this.#startDue();
  }

  has(key: K): boolean {
    return this.#due.has(key);
  }

  isRunning(key: K): boolean {
    return this.#running.has(key);
  }

  /** True when `key` runs by the worker that only looks: it is to end soon, but for what matters most. */
  isLooking(key: K): boolean {
    return this.#looking === key;
  }

  running(): readonly K[] {
    return [...this.#running.keys()];
  }

  /** True when `key` was due: its present run does that work as well, and it is not run again for it. */
  takeIfDue(key: K): boolean {
    const due = this.#due.get(key);
    return due !== undefined && due <= performance.now() && this.#due.delete(key);
  }

  /** True when something due that goes before `rank` has no worker. */
  isOutranked(rank: number): boolean {
    if (!this.#isFull()) return false;
    const now = performance.now();
    for (const [key, at] of this.#due)
      if (at <= now && !this.#running.has(key) && !this.#isUnread(key) && this.#rank(key) < rank) return true;
    return false;
  }

  /** Starts nothing more; resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
  }

  /** Wakes again when the next key is due. */
  #startDue(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    const now = performance.now();
    for (let next = this.#pick(now); next; next = this.#pick(now)) this.#start(next.key);
    const waiting = [...this.#due]
      .filter(([key, due]) => due > now && !this.#running.has(key))
      .map(([, due]) => due);
    const next = Math.min(...waiting);
    if (!(this.#isFull() && this.#looking !== undefined) && Number.isFinite(next))
      this.#timer = setTimeout(() => this.#startDue(), Math.max(1, next - now));
  }

  #start(key: K): void {
    this.#due.delete(key);
    if (this.#looking === undefined && this.#running.size >= this.#workers) this.#looking = key;
    const run = this.#run(key).finally(() => {
      this.#running.delete(key);
      if (this.#looking === key) this.#looking = undefined;
      this.#startDue();
    });
    this.#running.set(key, run);
  }

  /** One that looks has taken no worker from the others. */
  #isFull(): boolean {
    return this.#running.size - (this.#looking === undefined ? 0 : 1) >= this.#workers;
  }

  #pick(now: number): { readonly key: K } | undefined {
    const isFull = this.#isFull();
    if (isFull && this.#looking !== undefined) return undefined;
    let best: { readonly key: K; readonly rank: number } | undefined;
    for (const [key, at] of this.#due) {
      if (at > now || this.#running.has(key) || (isFull && !this.#isUnread(key))) continue;
      const rank = this.#rank(key);
      if (!best || rank < best.rank) best = { key, rank };
    }
    return best;
  }
}
