import { randomBytes } from 'node:crypto';
import { SlackError } from './slack-error.ts';

interface Trigger {
  readonly userId: string;
  readonly expiresAt: number;
  used: boolean;
}

/** `trigger_id`s: one use, by default within 3 s of the user's gesture. */
export class Triggers {
  readonly #now: () => number;
  readonly #ttlMs: () => number;
  readonly #triggers = new Map<string, Trigger>();

  constructor(now: () => number, ttlMs: () => number) {
    this.#now = now;
    this.#ttlMs = ttlMs;
  }

  issue(userId: string): string {
    const id = `${this.#now()}.${randomBytes(6).toString('hex')}`;
    this.#triggers.set(id, { userId, expiresAt: this.#now() + this.#ttlMs(), used: false });
    for (const [old, trigger] of this.#triggers) {
      // An hour later nobody can tell "expired" from "never was".
      if (trigger.expiresAt < this.#now() - 3_600_000) this.#triggers.delete(old);
    }
    return id;
  }

  /** Whose gesture it was. Throws `invalid_trigger_id`, `expired_trigger_id`, `exchanged_trigger_id`. */
  exchange(id: string): string {
    const trigger = this.#triggers.get(id);
    if (trigger === undefined) throw new SlackError('invalid_trigger_id');
    if (trigger.used) throw new SlackError('exchanged_trigger_id');
    if (trigger.expiresAt < this.#now()) throw new SlackError('expired_trigger_id');
    trigger.used = true;
    return trigger.userId;
  }
}
