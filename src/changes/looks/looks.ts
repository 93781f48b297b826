import { clip } from '../../core/clip.ts';
import { messageOf } from '../../core/errors.ts';
import type { Inventory } from '../../core/inventory.ts';
import type { Log } from '../../core/log.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { Target } from '../../core/target.ts';
import { within } from '../../core/within.ts';
import { redact } from '../../safety/screen/redact.ts';
import type { RecordChange } from '../record-change.ts';
import { foundBetween } from './changes-between.ts';
import {
  forgetParts,
  type LookRow,
  lockLook,
  lookRows,
  otherParts,
  type SeenSystem,
  saveFailure,
  saveLook,
} from './look-rows.ts';
import { type NameOf, type OwnAction, ownActions, withOwnActions } from './own-actions.ts';
import { screenedParts } from './screened-item.ts';

/** One look is enough for so long. */
const SHARED_MS = 30_000;
const TIMEOUT_MS = 20_000;
const AT_ONCE = 4;
const WHY = 300;

/** Reads what a target is made of now, and which system that is; null where its kind tells nothing of it. */
export type ReadInventory = (
  target: string,
  signal: AbortSignal,
) => Promise<{ readonly system: string; readonly inventory: Inventory } | null>;

/** Sentry's own looks at what its targets are made of. What two of them differ in becomes a change on record. */
export interface Looks {
  /**
   * Looks at a target, unless somebody did in the last 30 s; resolves when what it saw, or why it saw nothing, is on record. Rejects
   * when the caller's signal ends first: the look itself goes on, for others may wait for it.
   */
  lookNow(target: string, signal: AbortSignal): Promise<void>;
  /** Looks at all of them, a few at a time. */
  lookAtAll(signal: AbortSignal): Promise<void>;
}

export interface LooksDeps {
  readonly sql: Sql;
  /** As they are configured now. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly read: ReadInventory;
  readonly record: RecordChange;
  /** Who approved what Sentry did itself. */
  readonly nameOf: NameOf;
  readonly log: Log;
  /** How long one look may take; 20 s when left out. */
  readonly timeoutMs?: number;
}

export function createLooks(deps: LooksDeps): Looks {
  const underWay = new Map<string, Promise<void>>();
  // One at a time: each holds a connection to the record, and needs another one for the changes that it tells.
  let saved: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = saved.then(work);
    saved = turn.catch(() => undefined);
    return turn;
  };
  const look = (target: Target): Promise<void> => {
    const going = underWay.get(target.name);
    if (going) return going;
    const begun = lookAt(deps, target, inTurn).finally(() => underWay.delete(target.name));
    underWay.set(target.name, begun);
    return begun;
  };
  return {
    async lookNow(name, signal) {
      const target = deps.targets.get(name);
      if (target) await untilAborted(look(target), signal);
    },
    async lookAtAll(signal) {
      const left = [...deps.targets.values()];
      const work = async (): Promise<void> => {
        for (let next = left.shift(); next && !signal.aborted; next = left.shift())
          await look(next).catch((error: unknown) =>
            deps.log.warn({ error: messageOf(error) }, 'a look at a system could not be kept'),
          );
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    },
  };
}

/** Throws only where the record itself cannot be read or written. */
async function lookAt(
  deps: LooksDeps,
  target: Target,
  inTurn: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { sql, log } = deps;
  const beganAt = await clock(sql);
  const [known] = await lookRows(sql, [target.name]);
  if (known && Date.parse(beganAt) - Date.parse(known.tried_at) < SHARED_MS) return;
  try {
    const read = await readInTime(deps, target.name);
    if (read === null) return;
    const { inventory, system } = read;
    const unread = inventory.unread.map(({ part, why }) => ({ part: bounded(part), why: bounded(why) }));
    const seen = { system, beganAt, endedAt: await clock(sql), parts: screenedParts(inventory), unread };
    const actions = await ownActions(sql, deps.nameOf, target.name, seen.endedAt);
    await inTurn(() => sql.begin((tx) => keep(tx, deps, target, seen, actions)));
  } catch (error) {
    const why = bounded(messageOf(error));
    log.debug({ target: target.name, error: why }, 'what this target is made of could not be seen');
    await saveFailure(sql, target.name, beganAt, why);
  }
}

async function readInTime({ read, timeoutMs = TIMEOUT_MS }: LooksDeps, target: string) {
  const late = new AbortController();
  try {
    return await within(timeoutMs, read(target, late.signal));
  } finally {
    late.abort();
  }
}

/** A change is told before what it was found by is kept: after a crash in between it is found, and told, again. */
async function keep(
  tx: Tx,
  { record }: LooksDeps,
  target: Target,
  seen: SeenSystem,
  actions: readonly OwnAction[],
): Promise<void> {
  const known = await lockLook(tx, target.name, seen.beganAt);
  // A look that began before another one was over may have seen less than that.
  if (known.ended_at !== null && seen.beganAt <= known.ended_at) return;
  if (isOther(known, seen)) await forgetParts(tx, target.name);
  const others = await otherParts(tx, target.name, seen.parts);
  const found = others.flatMap(({ part, items, readAt }) => {
    const now = seen.parts.find((each) => each.part === part);
    const looks = { target, lastAt: readAt, endedAt: seen.endedAt };
    return now ? foundBetween(items, now, looks).map((each) => ({ ...each, lastAt: readAt })) : [];
  });
  for (const change of withOwnActions(found, actions)) await record(change);
  await saveLook(tx, known, seen);
}

const isOther = ({ system }: LookRow, seen: SeenSystem): boolean => system !== null && system !== seen.system;

async function clock(sql: Sql): Promise<string> {
  const [row] = await sql<{ now: string }>`SELECT clock_timestamp() AS now`;
  if (!row) throw new Error('the database has no clock');
  return row.now;
}

async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const bounded = (text: string): string => clip(redact(text).replace(/[\p{C}\p{Z}]+/gu, ' '), WHY);
