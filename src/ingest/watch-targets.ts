import { setTimeout as sleep } from 'node:timers/promises';
import { anySignal } from '../core/any-signal.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Watch } from '../core/sighting.ts';
import type { Sql } from '../core/sql.ts';
import type { Target } from '../core/target.ts';
import { alertSource } from '../sources/registry.ts';
import type { Accept } from './accept.ts';

const RETRY_MS = [1_000, 2_000, 5_000, 15_000, 30_000] as const;

/** How a watched target is: `problem` says why it cannot be watched now, as this process sees it. */
export interface WatchedTarget {
  readonly target: string;
  readonly kind: string;
  readonly problem: string | null;
  /** When it last told anything. */
  readonly toldAt: string | null;
}

interface WatchDeps {
  readonly sql: Sql;
  readonly accept: Accept;
  /** As they are now; a target that was changed is another object. */
  readonly watched: () => readonly { readonly target: Target; readonly watch: Watch }[];
  readonly log: Log;
}

/**
 * Takes in what targets tell by themselves. Its position is kept after what stands before it was accepted: what is told
 * again after a kill was stored already and changes nothing.
 */
export function createTargetWatch({ sql, accept, watched, log }: WatchDeps) {
  const ending = new AbortController();
  const running = new Map<Target, { readonly ending: AbortController; readonly done: Promise<void> }>();
  const problems = new Map<string, string>();

  async function follow(target: string, watch: Watch, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const [kept] = await sql<{ position: string }>`
          SELECT position FROM watch_position WHERE target = ${target}`;
        for await (const { position, told } of watch(kept?.position ?? null, signal)) {
          if (told) await take(told.source, told.payload);
          await sql`
            INSERT INTO watch_position (target, position) VALUES (${target}, ${position})
            ON CONFLICT (target) DO UPDATE SET position = excluded.position, at = clock_timestamp()`;
          failures = 0;
          problems.delete(target);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 0) log.warn({ target, error: messageOf(error) }, 'cannot be watched, trying again');
        failures += 1;
        problems.set(target, messageOf(error));
      }
      const wait = RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? 100;
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  async function take(source: string, payload: unknown): Promise<void> {
    const read = await alertSource(source).read(payload, { receivedAt: new Date() });
    // What cannot be read now cannot be read the next time either: it must not hold up what comes after it.
    if (read.ok) await Promise.all(read.alerts.map(accept));
    else
      log.error(
        { source, field: read.field, reason: read.reason },
        'a watched target told something unreadable',
      );
  }

  /** Ends the watch of what is gone, and begins that of what is new: of a changed target when its old one has ended. */
  function look(): void {
    const wanted = watched();
    const before = [...running].filter(([target]) => !wanted.some((one) => one.target === target));
    const ended = before.map(async ([target, one]) => {
      one.ending.abort();
      await one.done;
      running.delete(target);
    });
    for (const { target, watch } of wanted.filter((one) => !running.has(one.target))) {
      const own = new AbortController();
      const signal = anySignal([own.signal, ending.signal]);
      const done = Promise.all(ended).then(() => follow(target.name, watch, signal));
      running.set(target, { ending: own, done });
    }
  }

  return {
    /** Begins, or goes on with what is to be watched now. */
    look,
    async list(): Promise<readonly WatchedTarget[]> {
      const kept = await sql<{ target: string; at: string }>`SELECT target, at FROM watch_position`;
      return watched().map(({ target: { name, kind } }) => ({
        target: name,
        kind,
        problem: problems.get(name) ?? null,
        toldAt: kept.find(({ target }) => target === name)?.at ?? null,
      }));
    },
    async stop(): Promise<void> {
      ending.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}
