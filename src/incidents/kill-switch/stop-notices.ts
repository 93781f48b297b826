import { messageOf } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Sql, Tx } from '../../core/sql.ts';

/** What is notified in PostgreSQL when somebody stops something; the payload names it. */
export const STOP_CHANNEL = 'sentry_stop';

/** While nothing is heard, whether something was stopped is looked up; and now and then also while it is. */
const DEAF_LOOK_MS = 500;
const LOOK_MS = 5_000;

/** What a person can stop while it works. */
export type Stoppable = IncidentId | `question:${string}`;

/**
 * Tells work under way that a person stopped it: in this process at once, in others as soon as PostgreSQL has told them
 * (one LISTEN per process), and where that connection is lost by looking twice a second.
 */
export interface StopNotices {
  /** `onStop` is called once at most. The answer ends the watch. */
  watch(what: Stoppable, onStop: () => void): () => void;
  /** Part of the transaction that stops it: others hear of it at its commit. */
  tell(tx: Tx, what: Stoppable): Promise<void>;
  /** It was stopped: by this process, once committed, or as heard from another. */
  heard(what: string): void;
  /** Whether other processes are heard now. */
  hearing(now: boolean): void;
}

export function createStopNotices({ sql, log }: { readonly sql: Sql; readonly log: Log }): StopNotices {
  const watches = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | undefined;
  let everyMs = 0;
  let hears = false;

  function heard(what: string): void {
    const told = watches.get(what);
    watches.delete(what);
    for (const onStop of told ?? []) onStop();
    plan();
  }

  /** One statement for all that is watched. */
  async function look(): Promise<void> {
    const watched = [...watches.keys()];
    if (watched.length === 0) return;
    const questions = watched.flatMap((what) => /^question:(.*)$/s.exec(what)?.[1] ?? []);
    const rows = await sql`
      SELECT id AS what FROM incident WHERE state = 'stopped' AND id = ANY (${sql.array(watched)}::text[])
      UNION ALL
      SELECT 'question:' || id FROM question WHERE state = 'stopped' AND id = ANY (${sql.array(questions)}::text[])`;
    for (const row of rows) heard(String(row['what']));
  }

  function lookNow(): void {
    look().then(undefined, (error: unknown) =>
      log.warn({ error: messageOf(error) }, 'could not look for a stop; trying again'),
    );
  }

  function plan(): void {
    const wanted = watches.size === 0 ? 0 : hears ? LOOK_MS : DEAF_LOOK_MS;
    if (wanted === everyMs) return;
    everyMs = wanted;
    clearInterval(timer);
    timer = wanted === 0 ? undefined : setInterval(lookNow, wanted);
  }

  return {
    watch(what, onStop) {
      const told = watches.get(what) ?? new Set();
      watches.set(what, told.add(onStop));
      plan();
      // It may have been stopped before anybody watched.
      lookNow();
      return () => {
        told.delete(onStop);
        if (told.size === 0 && watches.get(what) === told) watches.delete(what);
        plan();
      };
    },
    async tell(tx, what) {
      await tx`SELECT pg_notify(${STOP_CHANNEL}, ${what})`;
    },
    heard,
    hearing(now) {
      hears = now;
      plan();
      if (now) lookNow();
    },
  };
}
