import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { MANY } from './burst.ts';
import { firstRank, RANKS } from './send-order.ts';
import type { OutboundStore } from './store.ts';
import { isApprovals, isBurst, isDirect, isMute, isProposal, type SubjectId } from './subject.ts';

/** While problems go on opening, their digest is brought up to date so often. */
const DIGEST_MS = 5_000;
/**
 * So many are looked at together, the worst first: whether one is muted, or a part of another, takes a while each, and one that is worse
 * may come meanwhile. More than `MANY`, so that a digest comes before the first of them.
 */
const AT_ONCE = 16;
/** More are forgotten, the oldest first, and asked for again. */
const REMEMBERED = 10_000;

/** Which problems have no first message in Slack yet, and how bad they are. */
export class FirstMessages {
  readonly #store: OutboundStore;
  readonly #log: Log;
  readonly #add: (id: SubjectId, inMs: number) => void;
  readonly #rank = new Map<SubjectId, number>();
  /** Those that have one, or need none. */
  readonly #shown = new Set<SubjectId>();
  readonly #asked = new Map<SubjectId, number>();
  /** How bad those asked for are. */
  readonly #askedRank = new Map<SubjectId, number>();
  #isAsking = false;

  /** @param add has it drawn. */
  constructor(store: OutboundStore, log: Log, add: (id: SubjectId, inMs: number) => void) {
    this.#store = store;
    this.#log = log;
    this.#add = add;
  }

  /** Undefined: it has one, or nobody has asked. */
  rank(id: SubjectId): number | undefined {
    return this.#rank.get(id);
  }

  /** Has it drawn; what is not known yet is asked for together with what comes meanwhile, and added worst first. */
  hint(id: SubjectId, inMs: number): void {
    const isOther = isProposal(id) || isDirect(id) || isMute(id) || isApprovals(id);
    if (isOther || this.#shown.has(id) || this.#rank.has(id)) return this.#add(id, inMs);
    this.#asked.set(id, inMs);
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#ask().finally(() => {
      this.#isAsking = false;
    });
  }

  stands(id: SubjectId): void {
    this.#rank.delete(id);
    if (!isBurst(id)) this.#show(id);
  }

  #show(id: SubjectId): void {
    this.#shown.add(id);
    const [oldest] = this.#shown;
    if (this.#shown.size > REMEMBERED && oldest !== undefined) this.#shown.delete(oldest);
  }

  async #ask(): Promise<void> {
    // What is told in one go is asked for together.
    await Promise.resolve();
    while (this.#asked.size > 0) {
      const asked = new Map(await this.#worstAsked());
      try {
        await this.#store.hold([...asked.keys()]);
        for (const { id, severity } of await this.#store.withoutRoot([...asked.keys()]))
          this.#rank.set(id, firstRank(severity));
        for (const id of asked.keys()) if (!this.#rank.has(id)) this.#show(id);
        await this.#digest();
      } catch (error) {
        this.#log.warn(
          { error: messageOf(error) },
          'which problems are new could not be read; drawn as they come',
        );
      }
      const worst = ([one]: [SubjectId, number]): number => this.#rank.get(one) ?? RANKS.rest;
      for (const [id, inMs] of [...asked].sort((a, b) => worst(a) - worst(b))) this.#add(id, inMs);
    }
  }

  async #worstAsked(): Promise<readonly (readonly [SubjectId, number])[]> {
    if (this.#asked.size > AT_ONCE) await this.#rankAsked();
    const rankOf = ([id]: readonly [SubjectId, number]): number => this.#askedRank.get(id) ?? RANKS.rest;
    const worst = [...this.#asked].sort((a, b) => rankOf(a) - rankOf(b)).slice(0, AT_ONCE);
    for (const [id] of worst) {
      this.#asked.delete(id);
      this.#askedRank.delete(id);
    }
    return worst;
  }

  async #rankAsked(): Promise<void> {
    const unread = [...this.#asked.keys()].filter((id) => !this.#askedRank.has(id));
    try {
      for (const { id, severity } of await this.#store.withoutRoot(unread))
        this.#askedRank.set(id, firstRank(severity));
      // What has its first message, or needs none, does not wait behind those that have none.
      for (const id of unread) {
        const inMs = this.#asked.get(id);
        if (this.#askedRank.has(id) || inMs === undefined) continue;
        this.#asked.delete(id);
        this.#show(id);
        this.#add(id, inMs);
      }
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'how bad new problems are could not be read');
    }
  }

  /** The first is said at once, before any of what it tells of. */
  async #digest(): Promise<void> {
    const waiting = [...this.#rank.keys()].filter((id) => !isBurst(id));
    const burst = waiting.length > MANY ? await this.#store.burstOf(waiting) : null;
    if (burst === null) return;
    const stands = (await this.#store.posts(burst)).get('digest')?.ts != null;
    if (!stands) this.#rank.set(burst, RANKS.digest);
    this.#add(burst, stands ? DIGEST_MS : 0);
  }
}
