import { messageOf } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';

/** Work goes on for at most this long after a stop or a close whose notice is lost without the bus noticing that. */
const LOOK_MS = 5_000;

/** What a person can stop while it works. */
export type Stoppable = IncidentId | `question:${string}`;

/** Tells work under way that a person stopped it or closed its incident, in whichever process. */
export interface StopNotices {
  /** `onStop` is called once at most. The answer ends the watch. */
  watch(what: Stoppable, onStop: () => void): () => void;
}

export function createStopNotices(deps: {
  readonly sql: Sql;
  readonly bus: EventBus;
  readonly log: Log;
}): StopNotices {
  const { sql, bus, log } = deps;
  const watches = new Map<string, Set<() => void>>();

  function stopped(what: string): void {
    const told = watches.get(what);
    watches.delete(what);
    for (const onStop of told ?? []) onStop();
  }

  /** One statement for all that is watched. */
  async function look(): Promise<void> {
    const watched = [...watches.keys()];
    if (watched.length === 0) return;
    const questions = watched.flatMap((what) => /^question:(.*)$/s.exec(what)?.[1] ?? []);
    const rows = await sql<{ what: string }>`
      SELECT id AS what FROM incident
       WHERE (state = 'stopped' OR state = 'resolved' AND resolved_by = 'person') AND id = ANY (${sql.array(watched)}::text[])
      UNION ALL
      SELECT 'question:' || id FROM question WHERE state = 'stopped' AND id = ANY (${sql.array(questions)}::text[])`;
    for (const { what } of rows) stopped(what);
  }

  // By the row, not by the notice: one that comes late must not end the work that went on meanwhile.
  bus.subscribe({ on: { 'work.stopped': 'sweep' }, sweep: look, everyMs: LOOK_MS });

  return {
    watch(what, onStop) {
      const told = watches.get(what) ?? new Set();
      watches.set(what, told.add(onStop));
      // It may have been stopped before anybody watched.
      look().catch((error: unknown) =>
        log.warn({ error: messageOf(error) }, 'could not look for a stop; the next sweep does'),
      );
      return () => {
        told.delete(onStop);
        if (told.size === 0 && watches.get(what) === told) watches.delete(what);
      };
    },
  };
}
