import type { Slot } from '../views/blocks/slot.ts';
import { type DeliverDeps, edit, post } from './deliver.ts';
import type { RateLimiters } from './pacing.ts';
import { type NextCall, nextCall } from './plan.ts';
import type { SendOrder } from './send-order.ts';
import type { Drawing, SubjectId } from './subject.ts';
import type { SlackFailure } from './web-errors.ts';

/** The live message is edited at most this often, and only while other edits have room left. */
const LIVE_MS = 1_000;
const LIVE_RESERVE = 3;
/** While hardly any edits were made of late, whoever watches a model begin to write need not wait so long. */
const LIVE_EAGER_MS = 400;
const LIVE_PLENTY = 7;
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
      if (!drawing) return { kind: 'drawn', mark };
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
    const next = nextCall(slots, posts, deps.isPressed(id));
    if (!next) return 'drawn';
    const root = posts.get('root');
    const channel = root?.channel ?? home;
    const editWait = waitForEdit(deps, id, next);
    if (editWait > 0) return { kind: 'again', ms: editWait, failure: null };

    const pace = next.kind === 'post' ? deps.paces.posts(channel) : deps.paces.edits;
    const turn = await deps.order.take(id, pace, deps.rankOf(id, next));
    if (turn.kind === 'later') return { kind: 'again', ms: turn.ms, failure: null };
    // What was to be sent may be old by now.
    if (turn.kind === 'waited') {
      if (await isOld(next)) return 'reload';
      continue;
    }
    // Another process sends now. This one keeps its place in the order.
    if (!(await pace.claim(next.slot.live && next.kind === 'edit' ? LIVE_RESERVE - 1 : 0))) {
      if (await isOld(next)) return 'reload';
      continue;
    }
    deps.order.leave(id);
    const place = { subject: id, channel, threadTs: next.slot.inThread ? (root?.ts ?? null) : null };
    const delivery =
      next.kind === 'post'
        ? await post(deps, place, next.slot, next.row)
        : await edit(deps, place, next.slot, next.row);
    if (delivery.kind === 'lost') return { kind: 'again', ms: LIVE_MS, failure: null };
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

/** Posts never wait for this. */
function waitForEdit(deps: DrawDeps, id: SubjectId, { kind, slot }: NextCall): number {
  if (kind !== 'edit') return 0;
  const last = deps.lastSent.get(`${id}/${slot.slot}`) ?? Number.NEGATIVE_INFINITY;
  const since = performance.now() - last;
  if (!slot.live) return Math.max(0, TOGETHER_MS - since);
  const room = deps.paces.edits.available();
  const due = (room >= LIVE_PLENTY ? LIVE_EAGER_MS : LIVE_MS) - since;
  return due <= 0 && room < LIVE_RESERVE ? LIVE_MS : Math.max(0, due);
}
