import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Slot } from '../views/blocks/slot.ts';
import { type DrawDeps, drawSubject } from './draw-subject.ts';
import { hashOf } from './message.ts';
import { asProposalId, type SubjectId } from './subject.ts';

/** Incidents drawn at the same time by one process. */
const WORKERS = 8;
/** What is heard of one subject within so long is drawn together: edits are few, and a person's click must find one left. */
const TOGETHER_MS = 400;
/** What another process drew last is left to it for so long: two that draw one thread share no pace. */
const ELSEWHERE_MS = 400;
/** Another process holds the lease: it draws what is there, but perhaps not what an answer adds. */
const BUSY_MS = 250;
const FAULT_MS = 2_000;
const MAX_BACKOFF_MS = 30_000;

export interface Outbound {
  /** Begins to follow what changes. */
  start(bus: EventBus): void;
  /** Refuses new work and waits for the calls being made, at most `timeoutMs`. */
  stop(timeoutMs?: number): Promise<void>;
  /** The record of this incident or proposal changed. Never throws, never waits. */
  changed(id: SubjectId): void;
  /** Posts an answer into an incident's thread, once for its slot name, also over restarts. Resolves when it stands there. */
  say(id: IncidentId, slot: Slot): Promise<void>;
  /** Slack can be reached again: what waits after failures is tried now. */
  retryNow(): void;
  /** What keeps messages from arriving now, in words; null: nothing does. */
  problem(): string | null;
}

type OutboundDeps = Omit<DrawDeps, 'sleep' | 'extras' | 'changedAgain' | 'lastLive'>;

interface Saying {
  readonly slot: Slot;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/** The only sender of messages that are kept: keeps Slack showing what the record says. */
export function createOutbound(deps: OutboundDeps): Outbound {
  const { store, log } = deps;
  const stopping = new AbortController();
  const dirty = new Map<SubjectId, number>();
  const running = new Map<SubjectId, Promise<void>>();
  const sayings = new Map<SubjectId, Saying[]>();
  const failures = new Map<SubjectId, number>();
  /** When, by `performance.now()`. */
  const drawnHere = new Map<SubjectId, number>();
  const drawnElsewhere = new Set<SubjectId>();
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe = async (): Promise<void> => undefined;
  let problem: string | null = null;
  let picks = 0;

  const draws: DrawDeps = {
    ...deps,
    sleep: (ms) => delay(ms, undefined, { signal: stopping.signal }),
    extras: (id) => newestOfEach(sayings.get(id) ?? []).map((saying) => saying.slot),
    changedAgain: (id) => {
      const due = dirty.get(id);
      return due !== undefined && due <= performance.now() && dirty.delete(id);
    },
    lastLive: new Map(),
  };

  const want = (id: SubjectId, inMs = 0): void => {
    const due = performance.now() + inMs;
    dirty.set(id, Math.min(due, dirty.get(id) ?? Number.POSITIVE_INFINITY));
    schedule();
  };

  /** Starts what is due; wakes again when the next thing is. */
  function schedule(): void {
    if (stopping.signal.aborted) return;
    clearTimeout(timer);
    const now = performance.now();
    for (let id = pick(now); id !== undefined; id = pick(now)) {
      dirty.delete(id);
      const run = pass(id).finally(() => {
        running.delete(id as SubjectId);
        schedule();
      });
      running.set(id, run);
    }
    const waiting = [...dirty].filter(([id]) => !running.has(id)).map(([, due]) => due);
    const next = Math.min(...waiting);
    if (running.size < WORKERS && Number.isFinite(next))
      timer = setTimeout(schedule, Math.max(1, next - now));
  }

  /** Threads under way before new ones, so that a flood of alerts does not hold an approval up; but not always. */
  function pick(now: number): SubjectId | undefined {
    if (running.size >= WORKERS) return undefined;
    const due = [...dirty].filter(([id, at]) => at <= now && !running.has(id)).map(([id]) => id);
    picks += due.length > 0 ? 1 : 0;
    return (picks % 4 === 0 ? undefined : due.find((id) => drawnHere.has(id))) ?? due[0];
  }

  async function pass(id: SubjectId): Promise<void> {
    try {
      if (drawnElsewhere.has(id) && !sayings.has(id) && (await store.isDrawn(id))) return;
      if (!(await store.acquire(id))) {
        drawnElsewhere.add(id);
        if (sayings.has(id)) want(id, BUSY_MS);
        return;
      }
      let mark: string | null = null;
      try {
        const drawn = await drawSubject(draws, id);
        if (drawn.kind === 'drawn') {
          mark = drawn.mark;
          failures.delete(id);
          problem = null;
          drawnHere.set(id, performance.now());
          drawnElsewhere.delete(id);
          await said(id);
        } else {
          const again = drawn.failure && drawn.failure.kind !== 'wait' ? backoff(id, drawn.ms) : drawn.ms;
          if (drawn.failure)
            problem = `${drawn.failure.code}${drawn.failure.kind === 'setup' ? `: ${drawn.failure.hint}` : ''}`;
          want(id, again);
        }
      } finally {
        await store.release(id, mark);
      }
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.error({ subject: id, error: messageOf(error) }, 'drawing failed; trying again');
      want(id, backoff(id, FAULT_MS));
    }
  }

  async function said(id: SubjectId): Promise<void> {
    const pending = sayings.get(id);
    if (!pending) return;
    const posts = await store.posts(id);
    // Said meanwhile, another text may stand there still: it counts by what it says. What was overtaken has had its time.
    const newest = newestOfEach(pending);
    const left = pending.filter((saying) => {
      const row = posts.get(saying.slot.slot);
      const stands = row?.ts != null && row.sentHash === hashOf(saying.slot);
      const ended = stands || !newest.includes(saying);
      if (ended) saying.done();
      return !ended;
    });
    // And what was said while this asked.
    left.push(...(sayings.get(id) ?? []).filter((saying) => !pending.includes(saying)));
    if (left.length > 0) {
      sayings.set(id, left);
      want(id);
    } else sayings.delete(id);
  }

  const backoff = (id: SubjectId, ms: number): number => {
    const count = failures.get(id) ?? 0;
    failures.set(id, count + 1);
    return Math.min(MAX_BACKOFF_MS, ms * 2 ** Math.min(count, 6));
  };

  function hint(id: SubjectId): void {
    if (drawnElsewhere.has(id)) return want(id, ELSEWHERE_MS);
    const drawnAt = running.has(id) ? performance.now() : (drawnHere.get(id) ?? Number.NEGATIVE_INFINITY);
    want(id, Math.max(0, drawnAt + TOGETHER_MS - performance.now()));
  }

  /** What was changed unheard, and what a dead process left undrawn. What is being drawn may have changed since it was read. */
  async function sweep(): Promise<void> {
    const found = [...(await store.undrawn()), ...(await store.undrawnProposals()), ...running.keys()];
    for (const id of found) if (!dirty.has(id)) want(id);
  }

  return {
    start(bus) {
      unsubscribe = bus.subscribe({
        on: {
          'incident.changed': hint,
          'proposal.changed': (jobId) => hint(asProposalId(jobId)),
          // What a waiting proposal would replace.
          'workspace.changed': 'sweep',
        },
        sweep,
      });
    },
    changed: (id) => want(id),
    say: (id, slot) =>
      new Promise((resolve, reject) => {
        if (stopping.signal.aborted) return reject(new Error('stopping'));
        sayings.set(id, [...(sayings.get(id) ?? []), { slot, done: resolve, failed: reject }]);
        want(id);
      }),
    retryNow() {
      for (const id of failures.keys()) want(id);
      failures.clear();
    },
    problem: () => problem,
    async stop(timeoutMs = 5_000) {
      stopping.abort();
      clearTimeout(timer);
      for (const saying of [...sayings.values()].flat()) saying.failed(new Error('stopping'));
      const ended = Promise.allSettled([unsubscribe(), ...running.values()]);
      await Promise.race([ended, delay(timeoutMs, undefined, { ref: false })]);
    },
  };
}

/** Of several texts for one message the last. */
function newestOfEach(sayings: readonly Saying[]): readonly Saying[] {
  return [...new Map(sayings.map((saying) => [saying.slot.slot, saying])).values()];
}
