import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Slot } from '../views/blocks/slot.ts';
import { type DrawDeps, drawSubject } from './draw-subject.ts';
import { DueQueue } from './due-queue.ts';
import { PendingAnswers } from './pending-answers.ts';
import { asProposalId, type SubjectId } from './subject.ts';

/** Incidents drawn at the same time by one process. */
const WORKERS = 8;
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

type OutboundDeps = Omit<DrawDeps, 'sleep' | 'extras' | 'changedAgain' | 'lastSent'>;

/** The only sender of messages that are kept: keeps Slack showing what the record says. */
export function createOutbound(deps: OutboundDeps): Outbound {
  const { store, log } = deps;
  const stopping = new AbortController();
  const answers = new PendingAnswers();
  const failures = new Map<SubjectId, number>();
  /** When, by `performance.now()`. */
  const drawnHere = new Map<SubjectId, number>();
  const drawnElsewhere = new Set<SubjectId>();
  let unsubscribe = async (): Promise<void> => undefined;
  let problem: string | null = null;

  // Threads under way before new ones, so that a flood of alerts does not hold an approval up; but not always.
  const queue = new DueQueue<SubjectId>({ workers: WORKERS, run: pass, isUrgent: (id) => drawnHere.has(id) });
  const draws: DrawDeps = {
    ...deps,
    sleep: (ms) => delay(ms, undefined, { signal: stopping.signal }),
    extras: (id) => answers.newest(id),
    changedAgain: (id) => queue.takeIfDue(id),
    lastSent: new Map(),
  };

  async function pass(id: SubjectId): Promise<void> {
    try {
      if (drawnElsewhere.has(id) && !answers.has(id) && (await store.isDrawn(id))) return;
      if (await store.acquire(id)) return await drawWithLease(id);
      drawnElsewhere.add(id);
      if (answers.has(id)) queue.add(id, BUSY_MS);
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.error({ subject: id, error: messageOf(error) }, 'drawing failed; trying again');
      queue.add(id, backoff(id, FAULT_MS));
    }
  }

  async function drawWithLease(id: SubjectId): Promise<void> {
    let mark: string | null = null;
    try {
      const drawn = await drawSubject(draws, id);
      if (drawn.kind === 'again') {
        const { failure, ms } = drawn;
        queue.add(id, failure && failure.kind !== 'wait' ? backoff(id, ms) : ms);
        if (failure) problem = `${failure.code}${failure.kind === 'setup' ? `: ${failure.hint}` : ''}`;
        return;
      }
      mark = drawn.mark;
      failures.delete(id);
      problem = null;
      drawnHere.set(id, performance.now());
      drawnElsewhere.delete(id);
      await answers.settle(id, () => store.posts(id));
      if (answers.has(id)) queue.add(id);
    } finally {
      await store.release(id, mark);
    }
  }

  function backoff(id: SubjectId, ms: number): number {
    const count = failures.get(id) ?? 0;
    failures.set(id, count + 1);
    return Math.min(MAX_BACKOFF_MS, ms * 2 ** Math.min(count, 6));
  }

  function hint(id: SubjectId): void {
    queue.add(id, drawnElsewhere.has(id) ? ELSEWHERE_MS : 0);
  }

  /** What was changed unheard, and what a dead process left undrawn. What is being drawn may have changed since it was read. */
  async function sweep(): Promise<void> {
    const found = [...(await store.undrawn()), ...(await store.undrawnProposals()), ...queue.running()];
    for (const id of found) if (!queue.has(id)) queue.add(id);
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
    changed: (id) => queue.add(id),
    async say(id, slot) {
      if (stopping.signal.aborted) throw new Error('stopping');
      const posted = answers.add(id, slot);
      queue.add(id);
      await posted;
    },
    retryNow() {
      for (const id of failures.keys()) queue.add(id);
      failures.clear();
    },
    problem: () => problem,
    async stop(timeoutMs = 5_000) {
      stopping.abort();
      answers.failAll(new Error('stopping'));
      const ended = Promise.allSettled([unsubscribe(), queue.stop()]);
      await Promise.race([ended, delay(timeoutMs, undefined, { ref: false })]);
    },
  };
}
