import { severities } from '../../core/alert.ts';
import type { RateLimiter } from './pacing.ts';
import type { SubjectId } from './subject.ts';

/**
 * Lower goes first: a card that somebody has just pressed; critical first messages (0), cards and closings, the other first messages by
 * their severity; then what answers people, then what threads say, then how they go on.
 */
export const RANKS = { digest: -1, pressed: -0.5, urgent: 0.5, answer: 10, rest: 20, progress: 30 } as const;

/** The rank of a problem's first message, from 0 on. */
export const firstRank = (severity: string): number =>
  (severities as readonly string[]).includes(severity)
    ? (severities as readonly string[]).indexOf(severity)
    : severities.length;

/** So soon somebody who waits sees that something better has come. */
const LOOK_MS = 20;
/** A longer wait is not sat out with the incident's lease in hand. */
const LONG_MS = 5_000;

type Turn = { readonly kind: 'go' | 'waited' } | { readonly kind: 'later'; readonly ms: number };

interface Waiting {
  readonly pace: RateLimiter;
  readonly rank: number;
  readonly no: number;
}

/**
 * Who of those that wait for one pace may send next: the best ranked, then whoever came first. When is the pace's business; nobody
 * takes a token ahead of time, so what comes late and matters more is not kept waiting by what was reserved before it.
 */
export class SendOrder {
  readonly #waiting = new Map<SubjectId, Waiting>();
  /** The places of those that wait, and of those that had to leave before they had sent: nobody is overtaken for ever. */
  readonly #places = new Map<SubjectId, Waiting>();
  readonly #sleep: (ms: number) => Promise<void>;
  /** Something better ranked has nobody to see to it. */
  readonly #mustLeave: (id: SubjectId, rank: number) => boolean;
  #no = 0;

  constructor(sleep: (ms: number) => Promise<void>, mustLeave: (id: SubjectId, rank: number) => boolean) {
    this.#sleep = sleep;
    this.#mustLeave = mustLeave;
  }

  /**
   * `go`: a token is taken. `waited`: look again at what is to be sent, then ask again; the place in the order is kept. `leave`: so
   * many tokens have to be left for what matters more.
   */
  async take(id: SubjectId, pace: RateLimiter, rank: number, leave = 0): Promise<Turn> {
    const before = this.#places.get(id);
    const me: Waiting = { pace, rank, no: before?.pace === pace ? before.no : this.#no++ };
    this.#waiting.set(id, me);
    this.#places.set(id, me);
    for (let waited = false; ; waited = true) {
      if (this.#mustLeave(id, rank)) return { kind: 'later', ms: 0 };
      if (this.#isFirst(me)) {
        const wait = pace.reserve(leave);
        if (wait <= 1 && !waited) return { kind: 'go' };
        pace.giveBack();
        if (wait <= 1) return { kind: 'waited' };
        if (wait > LONG_MS) return { kind: 'later', ms: wait };
        await this.#sleep(Math.min(wait, LOOK_MS));
      } else await this.#sleep(LOOK_MS);
    }
  }

  /** It waits no longer; its place is kept. */
  leave(id: SubjectId): void {
    this.#waiting.delete(id);
  }

  /** It has sent, or has nothing to send. */
  served(id: SubjectId): void {
    this.#waiting.delete(id);
    this.#places.delete(id);
  }

  #isFirst({ pace, rank, no }: Waiting): boolean {
    for (const other of this.#waiting.values())
      if (other.pace === pace && (other.rank < rank || (other.rank === rank && other.no < no))) return false;
    return true;
  }
}
