import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlRequests } from './control-api.ts';
import { BOT_SCOPES } from './seed.ts';

type Failure = ControlRequests['fail'];

/** What the control API has switched on. It only remembers and counts down; others act on it. */
export class Switches {
  readonly #failures: Array<Failure & { left: number }> = [];
  readonly #limitedUntil = new Map<string, number>();
  readonly #delays = new Map<string, number>();
  readonly #lost: Array<{ event: string | undefined; left: number }> = [];
  readonly #doubled: Array<{ event: string | undefined; left: number }> = [];
  #unknownMethods = new Set<string>();
  #unknownBlocks = new Set<string>();
  #droppedFields: readonly string[] = [];
  #scopes: readonly string[] | null = null;
  #lifted = new AbortController();
  #thaw: (() => void) | undefined;
  #thawed: Promise<void> = Promise.resolve();

  reset(): void {
    this.#failures.length = 0;
    this.#limitedUntil.clear();
    this.#delays.clear();
    this.#lifted.abort();
    this.#lifted = new AbortController();
    this.#lost.length = 0;
    this.#doubled.length = 0;
    this.#unknownMethods = new Set();
    this.#unknownBlocks = new Set();
    this.#droppedFields = [];
    this.#scopes = null;
    this.freeze(false);
  }

  failNext(failure: Failure): void {
    this.#failures.push({ ...failure, left: failure.times ?? 1 });
  }

  /** Takes one use of the first failure that fits. */
  takeFailure(method: string): Failure | undefined {
    const failure = takeFirst(this.#failures, (each) => each.method === undefined || each.method === method);
    if (failure?.kind === 'rate_limited')
      this.#limitedUntil.set(method, performance.now() + retryAfterSeconds(failure) * 1_000);
    return failure;
  }

  /** Whether a `rate_limited` of before still tells callers to stay away. */
  tellsToWait(method: string): boolean {
    return (this.#limitedUntil.get(method) ?? 0) > performance.now();
  }

  setUnknownMethods(methods: readonly string[]): void {
    this.#unknownMethods = new Set(methods);
  }

  isUnknown(method: string): boolean {
    return this.#unknownMethods.has(method);
  }

  setUnknownBlocks(types: readonly string[]): void {
    this.#unknownBlocks = new Set(types);
  }

  unknownBlocks(): ReadonlySet<string> {
    return this.#unknownBlocks;
  }

  setScopes(scopes: readonly string[] | null): void {
    this.#scopes = scopes;
  }

  scopes(): readonly string[] {
    return this.#scopes ?? BOT_SCOPES;
  }

  setDroppedFields(fields: readonly string[]): void {
    this.#droppedFields = fields;
  }

  droppedFields(): readonly string[] {
    return this.#droppedFields;
  }

  setDelay(ms: number, method = '*'): void {
    if (ms <= 0) this.#delays.delete(method);
    else this.#delays.set(method, ms);
  }

  /** Over at a reset, too. */
  async whenDue(method: string): Promise<void> {
    const ms = this.#delays.get(method) ?? this.#delays.get('*') ?? 0;
    if (ms > 0) await sleep(ms, undefined, { signal: this.#lifted.signal }).catch(() => undefined);
  }

  loseEvents(times: number, event?: string): void {
    this.#lost.push({ event, left: times });
  }

  takeLoss(event: string): boolean {
    return takeFirst(this.#lost, (each) => each.event === undefined || each.event === event) !== undefined;
  }

  doubleEvents(times: number, event?: string): void {
    this.#doubled.push({ event, left: times });
  }

  takeDouble(event: string): boolean {
    return takeFirst(this.#doubled, (each) => each.event === undefined || each.event === event) !== undefined;
  }

  freeze(frozen: boolean): void {
    if (!frozen) {
      this.#thaw?.();
      this.#thaw = undefined;
    } else if (this.#thaw === undefined) {
      this.#thawed = new Promise((resolve) => {
        this.#thaw = resolve;
      });
    }
  }

  /** Resolves at once, or when the freeze ends. */
  whenThawed(): Promise<void> {
    return this.#thawed;
  }
}

export const retryAfterSeconds = (failure: Failure): number => failure.retry_after_s ?? 1;

function takeFirst<T extends { left: number }>(list: T[], fits: (each: T) => boolean): T | undefined {
  const index = list.findIndex(fits);
  const found = list[index];
  if (found === undefined) return undefined;
  found.left -= 1;
  if (found.left <= 0) list.splice(index, 1);
  return found;
}
