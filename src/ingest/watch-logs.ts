import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Alert } from '../core/alert.ts';
import { anySignal } from '../core/any-signal.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import type { Target } from '../core/target.ts';
import type { LogReader, WatchedLog } from '../core/watched-log.ts';
import { redact } from '../safety/screen/redact.ts';
import { alertSource } from '../sources/registry.ts';
import type { AcceptIn } from './accept.ts';
import { Tally } from './tally.ts';
import {
  type Claimed,
  claim,
  isOurs,
  type LogName,
  NotOurs,
  type Reading,
  release,
  store,
} from './watch-state.ts';

const RETRY_MS = [1_000, 2_000, 5_000, 15_000, 30_000] as const;

/** Taking in alerts holds locks for each of them, and takes longer than their number says. */
const MOST_ALERTS = 50;

export interface Pace {
  /** How often a log is looked at in which there is nothing new. */
  readonly lookMs: number;
  /** What was not said before is told so soon. */
  readonly newsMs: number;
  /** What was said before is counted, and told so late; how far it was read is stored then, too. */
  readonly againMs: number;
  /** How often a process asks whether a log is its own. */
  readonly askMs: number;
}

const usual: Pace = { lookMs: 250, newsMs: 1_000, againMs: 15_000, askMs: 1_000 };

export interface WatchLogsDeps {
  readonly sql: Sql;
  readonly acceptIn: AcceptIn;
  /** As they are now; a target that was changed is another object. */
  readonly watched: () => readonly { readonly target: Target; readonly logs: readonly WatchedLog[] }[];
  /** This process, as its heartbeat calls it. */
  readonly executorId: string;
  readonly log: Log;
  readonly pace?: Pace;
  readonly maxShapes?: number;
}

/**
 * Reads the watched logs, each in one process at a time, and takes in what matches. How far it was read and the alerts of what
 * was read are stored together: after a kill the next reader goes on exactly there.
 */
export function createLogWatch(deps: WatchLogsDeps) {
  const ending = new AbortController();
  const running = new Map<Target, { readonly ending: AbortController; readonly done: Promise<unknown> }>();

  /** Ends the watch of what is gone, and begins that of what is new: of a changed target when its old one has ended. */
  function look(): void {
    const wanted = deps.watched();
    const ended = [...running]
      .filter(([target]) => !wanted.some((one) => one.target === target))
      .map(async ([target, one]) => {
        one.ending.abort();
        await one.done;
        running.delete(target);
      });
    for (const { target, logs } of wanted.filter((one) => !running.has(one.target))) {
      const own = new AbortController();
      const signal = anySignal([own.signal, ending.signal]);
      const done = Promise.all(ended).then(() =>
        Promise.all(logs.map((log) => follow(deps, target.name, log, signal))),
      );
      running.set(target, { ending: own, done });
    }
  }

  return {
    /** Begins, or goes on with what is to be watched now. */
    look,
    async stop(): Promise<void> {
      ending.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}

async function follow(deps: WatchLogsDeps, target: string, log: WatchedLog, signal: AbortSignal) {
  const { askMs } = deps.pace ?? usual;
  let failures = 0;
  while (!signal.aborted) {
    let wait: number = askMs;
    try {
      await readWhileOurs(deps, { target, log: log.name }, log, signal, () => {
        failures = 0;
      });
    } catch (error) {
      if (!(error instanceof NotOurs)) {
        if (failures === 0)
          deps.log.warn(
            { target, log: log.name, error: messageOf(error) },
            'cannot be watched, trying again',
          );
        wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? askMs;
        failures += 1;
      }
    }
    await sleep(wait, undefined, { signal }).catch(() => undefined);
  }
}

async function readWhileOurs(
  deps: WatchLogsDeps,
  name: LogName,
  log: WatchedLog,
  signal: AbortSignal,
  onStored: () => void,
): Promise<void> {
  const { sql, executorId: owner } = deps;
  const pace = deps.pace ?? usual;
  const claimed = await claim(sql, name, owner);
  if (claimed === null) return;
  const reader = await log.open(claimed.position);
  const told = createTelling(deps, { ...name, owner }, claimed, reader);
  try {
    // Where a log that is new begins is known from now on, whatever becomes of us.
    if (claimed.position === null) await told.store();
    let asked = performance.now();
    while (!signal.aborted) {
      const isMore = await reader.step();
      if (told.isDue()) {
        await told.store();
        onStored();
      }
      if (performance.now() - asked >= pace.askMs) {
        asked = performance.now();
        if (!(await isOurs(sql, name, owner))) return;
      }
      // Whoever has much to read lets others in between.
      if (isMore) await setImmediate();
      else await sleep(pace.lookMs, undefined, { signal }).catch(() => undefined);
    }
    if (told.hasMoved()) await told.store();
  } finally {
    await reader.close();
    await release(sql, name, owner).catch((error: unknown) =>
      deps.log.warn({ ...name, error: messageOf(error) }, 'a watched log could not be given back'),
    );
  }
}

/** What a reader has read since that was stored last. */
function createTelling(
  { sql, acceptIn, pace = usual, maxShapes, log }: WatchLogsDeps,
  name: LogName & { readonly owner: string },
  claimed: Claimed,
  reader: LogReader,
) {
  const tally = new Tally(maxShapes);
  const notes: string[] = [];
  let { revision, problem } = claimed;
  let stored = { lines: 0, cut: 0, at: performance.now() };
  let matched = 0;

  const collect = (now: number): void => {
    for (const match of reader.takeMatches()) {
      tally.add(match, now);
      matched += 1;
    }
    notes.push(...reader.takeNotes());
  };

  return {
    isDue(): boolean {
      const now = performance.now();
      collect(now);
      const age = now - stored.at;
      // A problem is written when it changes: while it lasts, nothing is.
      const isNews = tally.hasNews || notes.length > 0 || reader.problem !== problem;
      if (tally.size >= MOST_ALERTS) return true;
      return (isNews && age >= pace.newsMs) || (reader.lines !== stored.lines && age >= pace.againMs);
    },
    hasMoved(): boolean {
      collect(performance.now());
      return reader.lines !== stored.lines || notes.length > 0;
    },
    async store(): Promise<void> {
      const now = performance.now();
      collect(now);
      const { position, lines, cut, problem: seen } = reader;
      const seconds = Math.max(1, now - stored.at) / 1_000;
      const read: Reading = {
        position,
        lines: lines - stored.lines,
        matched,
        cut: cut - stored.cut,
        lineRate: (lines - stored.lines) / seconds,
        matchRate: matched / seconds,
        problem: redacted(seen),
        note: redacted(notes.at(-1) ?? null),
        alerts: await alertsOf(name, tally, log),
      };
      for (const note of notes) log.warn({ ...name, note }, 'lines of a watched log may be lost');
      revision = await store({ sql, acceptIn }, { ...name, revision }, read, (alert, error) =>
        log.error({ ...name, title: alert.title, error: messageOf(error) }, 'an alert cannot be stored'),
      );
      tally.clear();
      notes.length = 0;
      matched = 0;
      problem = seen;
      stored = { lines, cut, at: now };
    },
  };
}

/** What a program says of itself may hold anything. */
const redacted = (text: string | null): string | null => (text === null ? null : redact(text));

async function alertsOf({ target, log: name }: LogName, tally: Tally, log: Log): Promise<readonly Alert[]> {
  const reading = randomUUID();
  const alerts = tally.view().map(async ({ pattern, severity, shape, text, lines, from, to }, n) => {
    const said = { target, log: name, pattern, severity, shape, line: text, lines };
    const times = { from: from.toISOString(), to: to.toISOString() };
    const read = await alertSource('log-lines').read(
      { ...said, ...times, reading: `${reading}:${n}` },
      { receivedAt: to },
    );
    if (read.ok) return read.alerts;
    // What cannot be read now cannot be read the next time either: it must not hold up what comes after it.
    log.error({ ...said, field: read.field, reason: read.reason }, 'lines of a log are unreadable');
    return [];
  });
  return (await Promise.all(alerts)).flat();
}
