import type { Slot } from '../views/blocks/slot.ts';
import { type DeliverDeps, edit, post } from './deliver.ts';
import type { RateLimiters } from './pacing.ts';
import { isAnswer, isUrgent, type NextCall, nextCalls, turnsRoot } from './plan.ts';
import { RANKS, type SendOrder } from './send-order.ts';
import type { PostRow } from './store.ts';
import { type Drawing, isIncident, type SubjectId } from './subject.ts';
import type { SlackFailure } from './web-errors.ts';

/** Of the edits of all processes, so many are left to cards, closings and what somebody waits for. */
const LEFT_BY_PROGRESS = 2;
/** Another process has taken over: what it leaves is looked at after so long. */
const LOST_MS = 1_000;
/** What changes of a message within so long is one edit: they are few, and a person's click must find one left. */
export const TOGETHER_MS = 400;

export interface DrawDeps extends DeliverDeps {
  readonly paces: RateLimiters;
  /** What should stand in Slack as the record is now; null: there is nothing of that id. */
  readonly drawing: (id: SubjectId) => Promise<Drawing | null>;
  /** Messages besides the drawn ones, answers to questions: posted after them. */
  readonly extras: (id: SubjectId) => readonly Slot[];
  /** Whose turn it is to send. */
  readonly order: SendOrder;
  /** How much what is to be sent next matters, see `RANKS`. */
  readonly rankOf: (id: SubjectId, next: NextCall) => number;
  /** Somebody waits for it in Slack: they pressed a button of it. */
  readonly isPressed: (id: SubjectId) => boolean;
  /** True when the record changed since this was last asked: then it is loaded again. */
  readonly changedAgain: (id: SubjectId) => boolean;
  /** When each message was last posted or edited here, by `performance.now()`. */
  readonly lastSent: Map<string, number>;
  /** Slack took a message of it: what failed before has nothing to do with what follows. */
  readonly delivered: (id: SubjectId) => unknown;
}

/** `again`: come back after so many ms. */
export type Drawn =
  | { readonly kind: 'drawn'; readonly mark: string | null }
  | { readonly kind: 'again'; readonly ms: number; readonly failure: SlackFailure | null };

/** Brings the messages of an incident or a proposal to what the record says, call by call, always with the newest state. Needs its lease. */
export async function drawSubject(deps: DrawDeps, id: SubjectId): Promise<Drawn> {
  try {
    for (;;) {
      const mark = await deps.store.mark(id);
      const drawing = await deps.drawing(id);
      if (!drawing) {
        deps.order.served(id);
        return { kind: 'drawn', mark };
      }
      const ended = await work(deps, id, mark, { ...drawing, slots: [...drawing.slots, ...deps.extras(id)] });
      if (ended === 'reload') continue;
      return ended === 'drawn' ? { kind: 'drawn', mark } : ended;
    }
  } finally {
    deps.order.leave(id);
  }
}

async function work(
  deps: DrawDeps,
  id: SubjectId,
  mark: string | null,
  { slots, channel: home }: Drawing,
): Promise<Drawn | 'drawn' | 'reload'> {
  /**
   * What waited its turn is drawn anew only when the record says something else by now: meanwhile all others wait for it. That there
   * is a problem is said as it was read; while it is looked into it changes all the time, and an edit says the rest.
   */
  const isOld = async ({ kind, slot }: NextCall): Promise<boolean> =>
    (kind === 'edit' || slot.inThread) &&
    (deps.changedAgain(id) || mark === null || (await deps.store.mark(id)) !== mark);
  let posts = await deps.store.posts(id);
  for (;;) {
    const calls = nextCalls(slots, posts, deps.isPressed(id), isBehind(deps, id, slots, posts));
    const waits = waitsOf(deps, id, calls, posts);
    const next = calls[waits.findIndex((ms) => ms <= 0)];
    if (!next) {
      deps.order.served(id);
      return calls.length === 0 ? 'drawn' : { kind: 'again', ms: Math.min(...waits), failure: null };
    }
    const root = posts.get('root');
    const channel = root?.channel ?? home;

    const pace = next.kind === 'post' ? deps.paces.posts(channel) : deps.paces.edits;
    const rank = deps.rankOf(id, next);
    const leave = rank >= RANKS.progress ? LEFT_BY_PROGRESS : 0;
    const turn = await deps.order.take(id, pace, rank, leave);
    if (turn.kind === 'later') return { kind: 'again', ms: turn.ms, failure: null };
    // What was to be sent may be old by now.
    if (turn.kind === 'waited') {
      if (await isOld(next)) return 'reload';
      continue;
    }
    // Another process sends now. This one keeps its place in the order.
    if (!(await pace.claim(leave))) {
      if (await isOld(next)) return 'reload';
      continue;
    }
    deps.order.served(id);
    const place = { subject: id, channel, threadTs: next.slot.inThread ? (root?.ts ?? null) : null };
    const delivery =
      next.kind === 'post'
        ? await post(deps, place, next.slot, next.row)
        : await edit(deps, place, next.slot, next.row);
    if (delivery.kind === 'lost') return { kind: 'again', ms: LOST_MS, failure: null };
    if (delivery.kind === 'later') {
      if (delivery.failure?.kind === 'wait') await pace.block(delivery.ms);
      return { kind: 'again', ms: delivery.ms, failure: delivery.failure };
    }
    deps.lastSent.set(`${id}/${next.slot.slot}`, performance.now());
    deps.delivered(id);
    if (deps.changedAgain(id)) return 'reload';
    posts = await deps.store.posts(id);
  }
}

/** A card or a closing has come since the root was last sent, which may not say so yet. */
function isBehind(
  { lastSent }: DrawDeps,
  id: SubjectId,
  slots: readonly Slot[],
  posts: ReadonlyMap<string, PostRow>,
): boolean {
  const sentAt = ({ slot }: Pick<Slot, 'slot'>): number =>
    lastSent.get(`${id}/${slot}`) ?? Number.NEGATIVE_INFINITY;
  const rootAt = sentAt({ slot: 'root' });
  return slots.some(
    (slot) => turnsRoot({ slot }) && posts.get(slot.slot)?.editedMsAgo === null && sentAt(slot) > rootAt,
  );
}

/** How long each has to wait. The root waits as long as the change of a card or a closing that goes with it, and for one that comes not at all. */
function waitsOf(
  deps: DrawDeps,
  id: SubjectId,
  calls: readonly NextCall[],
  posts: ReadonlyMap<string, PostRow>,
): readonly number[] {
  const waits = calls.map((call) => waitForEdit(deps, id, call, posts));
  const others = waits.filter((_, at) => calls[at]?.inTurn && calls[at]?.slot.slot !== 'root');
  const turn = others.length === 0 ? 0 : Math.min(...others);
  return waits.map((ms, at) => (calls[at]?.inTurn && calls[at]?.slot.slot === 'root' ? turn : ms));
}

/**
 * Posts never wait for this. An edit of an incident waits for `editGapMs` since its last one, whoever made it, so that what changes
 * meanwhile is one edit; a card or a closing waits only for its own last one, and what somebody has just pressed for neither.
 */
function waitForEdit(
  deps: DrawDeps,
  id: SubjectId,
  { kind, slot }: NextCall,
  posts: ReadonlyMap<string, PostRow>,
): number {
  if (kind !== 'edit') return 0;
  const last = deps.lastSent.get(`${id}/${slot.slot}`) ?? Number.NEGATIVE_INFINITY;
  const together = TOGETHER_MS - (performance.now() - last);
  if (!isIncident(id) || (deps.isPressed(id) && (isUrgent(slot) || isAnswer(slot)))) return together;
  const rows = isUrgent(slot) ? [posts.get(slot.slot)] : [...posts.values()];
  const edited = Math.min(...rows.map((row) => row?.editedMsAgo ?? Number.POSITIVE_INFINITY));
  return Math.max(together, deps.paces.editGapMs - edited);
}
