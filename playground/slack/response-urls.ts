import { randomBytes } from 'node:crypto';
import type { Journal } from './journal.ts';
import { SENTRY_APP, TEAM } from './seed.ts';
import { SlackError } from './slack-error.ts';

const COLLECTION = 'response_urls';
const USES = 5;

/** Where an answer through a `response_url` goes. */
export interface ResponseTarget {
  readonly userId: string;
  readonly channel: string;
  readonly thread_ts?: string;
  /** The message the interaction came from; none for commands. */
  readonly messageTs?: string;
  readonly ephemeral?: boolean;
}

interface Stored {
  readonly target: ResponseTarget;
  readonly expiresAt: number;
  readonly left: number;
}

interface UrlParts {
  readonly journal: Journal;
  readonly now: () => number;
  readonly ttlMs: () => number;
  readonly baseUrl: () => string;
}

/** `response_url`s: five uses within 30 minutes; they survive a restart of this server. */
export class ResponseUrls {
  readonly #parts: UrlParts;

  constructor(parts: UrlParts) {
    this.#parts = parts;
  }

  issue(target: ResponseTarget): string {
    for (const [old, stored] of this.#parts.journal.entries<Stored>(COLLECTION)) {
      if (stored.expiresAt < this.#parts.now() - 3_600_000) this.#parts.journal.delete(COLLECTION, old);
    }
    const key = randomBytes(12).toString('hex');
    const stored: Stored = { target, expiresAt: this.#parts.now() + this.#parts.ttlMs(), left: USES };
    this.#parts.journal.put(COLLECTION, key, stored);
    return `${this.#parts.baseUrl()}/actions/${TEAM.id}/${SENTRY_APP.id}/${key}`;
  }

  /** Takes one use. Throws `invalid_url`, `expired_url`, `used_url`. */
  use(key: string): ResponseTarget {
    const stored = this.#parts.journal.get<Stored>(COLLECTION, key);
    if (stored === undefined) throw new SlackError('invalid_url');
    if (stored.expiresAt < this.#parts.now()) throw new SlackError('expired_url');
    if (stored.left <= 0) throw new SlackError('used_url');
    this.#parts.journal.put(COLLECTION, key, { ...stored, left: stored.left - 1 });
    return stored.target;
  }
}
