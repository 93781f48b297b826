import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Slot } from '../views/blocks/slot.ts';
import { type DrawDeps, drawSubject } from './draw-subject.ts';
import { DueQueue } from './due-queue.ts';
import { FirstMessages } from './first-messages.ts';
import { PendingAnswers } from './pending-answers.ts';
import { isAnswer, isUrgent, type NextCall } from './plan.ts';
import { RANKS, SendOrder } from './send-order.ts';
import { approvalsOf, asMuteSubject, asProposalId, isIncident, type SubjectId } from './subject.ts';

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
  /** A person's press changed the record of this incident or proposal: they see it before others do. Never throws, never waits. */
  pressed(id: SubjectId): void;
  /** Posts an answer into an incident's thread, once for its slot name, also over restarts. Resolves when it stands there. */
  say(id: IncidentId, slot: Slot): Promise<void>;
  /** Slack can be reached again: what waits after failures is tried now. */
  retryNow(): void;
  /** What keeps messages from arriving now, in words; null: nothing does. */
  problem(): string | null;
  /** For how long, in ms, the oldest change has waited to stand in Slack; 0: none waits. */
  oldestWaitMs(): number;
}

type OutboundDeps = Omit<
  DrawDeps,
  'order' | 'rankOf' | 'isPressed' | 'extras' | 'changedAgain' | 'lastSent' | 'delivered'
> & {
  /** There is a channel in which proposals have lines. */
  readonly hasApprovals?: boolean;
};

/** The only sender of messages that are kept: keeps Slack showing what the record says. */
export function createOutbound(deps: OutboundDeps): Outbound {
  const { store, log } = deps;
  const stopping = new AbortController();
  const answers = new PendingAnswers();
  const failures = new Map<SubjectId, number>();
  /** People have pressed a button there, and wait for its answer. */
  const pressed = new Set<SubjectId>();
  const drawnElsewhere = new Set<SubjectId>();
  /** Since when something of it is not shown, by `performance.now()`. */
  const undrawnSince = new Map<SubjectId, number>();
  let unsubscribe = async (): Promise<void> => undefined;
  let problem: string | null = null;

  /** Changed since it was last read: a card may have come. */
  const unread = new Set<SubjectId>();
  /** How much what it has left to send matters, as it was last read. */
  const waiting = new Map<SubjectId, number>();

  // First that every critical problem is told of, then cards and closings, then the other problems; then what people wait for; then how
  // all of them go on.
  const queue = new DueQueue<SubjectId>({
    workers: WORKERS,
    run: pass,
    rank: rankOfRest,
    isUnread: (id) => unread.has(id) && !pressed.has(id) && firsts.rank(id) === undefined,
  });
  const firsts = new FirstMessages(store, log, add);
  const isPressed = (id: SubjectId): boolean => pressed.has(id) || answers.has(id);
  const draws: DrawDeps = {
    ...deps,
    order: new SendOrder(
      (ms) => delay(ms, undefined, { signal: stopping.signal }),
      (id, rank) => queue.isOutranked(rank) || (queue.isLooking(id) && rank > RANKS.urgent),
    ),
    rankOf(id, next) {
      const { kind, slot } = next;
      // Whatever else it has to say, its first message stands.
      if (kind === 'edit' || slot.inThread) firsts.stands(id);
      const first = firsts.rank(id);
      if (first !== undefined) return first;
      const rank = rankOfCall(id, next);
      waiting.set(id, rank);
      return rank;
    },
    isPressed,
    extras: (id) => answers.newest(id),
    changedAgain(id) {
      const isDue = queue.takeIfDue(id);
      if (isDue) unread.delete(id);
      return isDue;
    },
    lastSent: new Map(),
    delivered: (id) => failures.delete(id),
  };

  function rankOfCall(id: SubjectId, { kind, slot, inTurn }: NextCall): number {
    if (inTurn || isUrgent(slot)) return kind === 'edit' && pressed.has(id) ? RANKS.pressed : RANKS.urgent;
    if (isPressed(id) && (kind === 'post' || isAnswer(slot))) return RANKS.answer;
    return kind === 'post' ? RANKS.rest : RANKS.progress;
  }

  function rankOfRest(id: SubjectId): number {
    if (pressed.has(id) && unread.has(id)) return RANKS.pressed;
    const known = unread.has(id) ? undefined : waiting.get(id);
    return firsts.rank(id) ?? known ?? (isPressed(id) ? RANKS.answer : RANKS.rest);
  }

  function add(id: SubjectId, inMs = 0): void {
    if (!undrawnSince.has(id)) undrawnSince.set(id, performance.now());
    queue.add(id, inMs);
  }

  /** What was due stands in Slack, or is another process's to show. What changed meanwhile waits from now on. */
  function shown(id: SubjectId): void {
    waiting.delete(id);
    if (queue.has(id)) undrawnSince.set(id, performance.now());
    else undrawnSince.delete(id);
  }

  async function pass(id: SubjectId): Promise<void> {
    unread.delete(id);
    try {
      if (drawnElsewhere.has(id) && !answers.has(id) && (await store.isDrawn(id))) {
        pressed.delete(id);
        return shown(id);
      }
      if (await store.acquire(id)) return await drawWithLease(id);
      drawnElsewhere.add(id);
      shown(id);
      if (isPressed(id)) add(id, BUSY_MS);
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.error({ subject: id, error: messageOf(error) }, 'drawing failed; trying again');
      add(id, backoff(id, FAULT_MS));
    }
  }

  async function drawWithLease(id: SubjectId): Promise<void> {
    let mark: string | null = null;
    try {
      const drawn = await drawSubject(draws, id);
      if (drawn.kind === 'again') {
        const { failure, ms } = drawn;
        add(id, failure && failure.kind !== 'wait' ? backoff(id, ms) : ms);
        if (failure) problem = `${failure.code}${failure.kind === 'setup' ? `: ${failure.hint}` : ''}`;
        return;
      }
      mark = drawn.mark;
      failures.delete(id);
      problem = null;
      if (!queue.has(id)) pressed.delete(id);
      firsts.stands(id);
      drawnElsewhere.delete(id);
      shown(id);
      await answers.settle(id, () => store.posts(id));
      if (answers.has(id)) add(id);
      // Once its card stands, there is something to link to.
      if (deps.hasApprovals && isIncident(id) && (await store.hasProposal(id))) add(approvalsOf(id));
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
    unread.add(id);
    firsts.hint(id, drawnElsewhere.has(id) ? ELSEWHERE_MS : 0);
  }

  /** What was changed unheard, and what a dead process left undrawn. What is being drawn may have changed since it was read. */
  async function sweep(): Promise<void> {
    const found = [
      ...(await store.undrawn()),
      ...(await store.undrawnProposals()),
      ...(await store.standingBursts()),
      ...(await store.untoldMutes()),
      ...(deps.hasApprovals ? await store.undrawnApprovals() : []),
      ...queue.running(),
    ];
    for (const id of found) if (!queue.has(id)) firsts.hint(id, 0);
  }

  return {
    start(bus) {
      unsubscribe = bus.subscribe({
        on: {
          'incident.changed': hint,
          'proposal.changed': (jobId) => hint(asProposalId(jobId)),
          'mute.changed': (id) => hint(asMuteSubject(id)),
          // What a waiting proposal would replace.
          'workspace.changed': 'sweep',
        },
        sweep,
      });
    },
    pressed(id) {
      pressed.add(id);
      unread.add(id);
      add(id);
    },
    async say(id, slot) {
      if (stopping.signal.aborted) throw new Error('stopping');
      const posted = answers.add(id, slot);
      unread.add(id);
      add(id);
      await posted;
    },
    retryNow() {
      for (const id of failures.keys()) add(id);
      failures.clear();
    },
    problem: () => problem,
    oldestWaitMs: () => {
      const since = Math.min(...undrawnSince.values());
      return Number.isFinite(since) ? performance.now() - since : 0;
    },
    async stop(timeoutMs = 5_000) {
      stopping.abort();
      answers.failAll(new Error('stopping'));
      const ended = Promise.allSettled([unsubscribe(), queue.stop()]);
      await Promise.race([ended, delay(timeoutMs, undefined, { ref: false })]);
    },
  };
}
