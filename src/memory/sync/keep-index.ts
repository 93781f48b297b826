import { messageOf } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { Retrieval } from '../../search/retrieval.ts';
import { type Space, spaceOf } from '../../search/types.ts';
import { syncDocuments } from './sync-documents.ts';
import { syncIncidents } from './sync-incidents.ts';

/** Keeps the search index saying what the record and the documents say, whichever process wrote them. */
export interface IndexKeeper {
  /**
   * When it returns, what was committed before the call is findable, once the first round of the background is done. Calls
   * at the same time share the work.
   */
  refreshDocuments(): Promise<void>;
  /** From time to time in the background: documents, incidents, vectors of documents. */
  start(): void;
  stop(): Promise<void>;
}

const EVERY_MS = 15_000;
/** All of it is compared so often, which reads every incident; in between, what has changed since the last time. */
const WHOLE_EVERY_MS = 60 * 60_000;
/** A document's time is that of its statement; its transaction has committed so much later at most. */
const COMMIT_MS = 60_000;

export function createIndexKeeper(deps: {
  readonly sql: Sql;
  readonly retrieval: Retrieval;
  readonly load: (id: IncidentId) => Promise<IncidentRecord | null>;
  readonly log: Log;
}): IndexKeeper {
  const { sql, retrieval, load, log } = deps;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const stopping = new AbortController();
  const { signal } = stopping;
  let refreshedAt = performance.now();
  const refreshDocuments = sharing(async () => {
    const begun = performance.now();
    await syncDocuments(sql, retrieval, begun - refreshedAt + COMMIT_MS);
    refreshedAt = begun;
  });

  /** The vectors of runbooks and incidents are written where those are seeded and remembered. */
  async function documentSpaces(): Promise<readonly Space[]> {
    const rows = await sql<{ name: string }>`SELECT name FROM search_space WHERE name LIKE 'document:%'`;
    return rows.map(({ name }) => spaceOf(name));
  }

  let wholeAt = Number.NEGATIVE_INFINITY;
  let keptAt = 0;

  async function keep(): Promise<void> {
    const begun = performance.now();
    const isWhole = begun - wholeAt >= WHOLE_EVERY_MS;
    const sinceMs = isWhole ? null : begun - keptAt + COMMIT_MS;
    try {
      await syncDocuments(sql, retrieval, sinceMs, signal);
      await syncIncidents(sql, retrieval, load, sinceMs, signal);
      if (signal.aborted) return;
      keptAt = begun;
      if (isWhole) wholeAt = begun;
      while (!signal.aborted && (await retrieval.embedPending(await documentSpaces())) > 0);
    } catch (error) {
      if (!signal.aborted)
        log.warn({ error: messageOf(error) }, 'the search index is behind; it is tried again');
    }
  }

  function next(inMs: number): void {
    timer = setTimeout(() => {
      round = keep().finally(() => {
        if (!signal.aborted) next(EVERY_MS);
      });
    }, inMs);
  }

  return {
    refreshDocuments,
    start: () => next(0),
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await round;
    },
  };
}

/** One at a time; who comes while one is under way gets the next one, which sees what was committed before the call. */
function sharing(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  return () => {
    if (running === undefined) {
      running = work().finally(() => {
        running = undefined;
      });
      return running;
    }
    waiting ??= running
      .catch(() => undefined)
      .then(() => {
        waiting = undefined;
        running = work().finally(() => {
          running = undefined;
        });
        return running;
      });
    return waiting;
  };
}
