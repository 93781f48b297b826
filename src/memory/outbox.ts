import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { within } from '../core/within.ts';
import type { Embedder, VectorMetadata, VectorStore } from '../search/ports.ts';

/** How long a write may hold up the incident it is about; what has not landed by then is tried again later. */
const WRITE_TIMEOUT_MS = 8_000;
const BATCH = 20;

export interface MemoryOutbox {
  /** Durable when it returns; tried at once, for at most 8 s. The newest document of an id wins. */
  write(entry: OutboxEntry): Promise<void>;
  /** Tries what is due; returns how many landed. */
  flush(): Promise<number>;
}

export interface OutboxEntry {
  readonly collection: string;
  readonly id: string;
  readonly document: string;
  readonly metadata: VectorMetadata;
  /** It has to leave: what was forgotten, or is no longer part of a promoted document. */
  readonly removal?: boolean;
}

/** Documents on their way to the vector database: a row until they have landed, however long it is away. */
export function createOutbox(deps: {
  readonly sql: Sql;
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  readonly log: Log;
}): MemoryOutbox {
  const { sql, vectors, embedder, log } = deps;
  // One at a time: an older document of an id must not land after a newer one.
  let last: Promise<unknown> = Promise.resolve();
  const withLock = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };

  return {
    async write(entry) {
      await sql`
        INSERT INTO memory_outbox (collection, id, document, metadata, next_at)
        VALUES (${entry.collection}, ${entry.id}, ${entry.document}, ${sql.json(entry.metadata)},
                clock_timestamp() + ${WRITE_TIMEOUT_MS} * interval '1 millisecond')
        ON CONFLICT (collection, id) DO UPDATE SET document = EXCLUDED.document, metadata = EXCLUDED.metadata,
          removal = false, attempts = 0, next_at = EXCLUDED.next_at, last_error = NULL`;
      await within(
        WRITE_TIMEOUT_MS,
        withLock(() => push(entry, 'now')),
        () => false,
      );
    },
    flush: () =>
      withLock(async () => {
        // Claimed by moving the next try: two processes do not take the same, and a dead one's come due again.
        const due = await sql<OutboxEntry>`
          UPDATE memory_outbox SET attempts = attempts + 1,
            next_at = clock_timestamp() + least(power(2, least(attempts, 20)) * interval '5 s', interval '10 min')
           WHERE (collection, id) IN (SELECT collection, id FROM memory_outbox WHERE next_at <= statement_timestamp()
                                      ORDER BY next_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
          RETURNING collection, id, document, metadata, removal`;
        let landed = 0;
        for (const entry of due) {
          // When one fails so would the others, each after its time limit.
          if (!(await push(entry, 'later'))) break;
          landed += 1;
        }
        return landed;
      }),
  };

  /** Never throws: what did not land stays in its row, with why. */
  async function push(entry: OutboxEntry, when: 'now' | 'later'): Promise<boolean> {
    try {
      const collection = vectors.collection(entry.collection, embedder.fingerprint);
      if (entry.removal) await collection.remove([entry.id], WRITE_TIMEOUT_MS);
      else {
        const [embedding] = await embedder.embed([entry.document], when);
        if (!embedding) throw new Error('no embedding');
        const record = { id: entry.id, document: entry.document, metadata: entry.metadata, embedding };
        await collection.upsert([record], WRITE_TIMEOUT_MS);
      }
      // A newer document that came meanwhile stays.
      await sql`DELETE FROM memory_outbox WHERE collection = ${entry.collection} AND id = ${entry.id}
                AND document = ${entry.document} AND metadata = ${sql.json(entry.metadata)}
                  AND removal = ${entry.removal ?? false}`;
      return true;
    } catch (error) {
      log.warn({ id: entry.id, error: messageOf(error) }, 'memory not written; it is tried again');
      await sql`UPDATE memory_outbox SET last_error = ${messageOf(error)}
                WHERE collection = ${entry.collection} AND id = ${entry.id}`.then(
        undefined,
        (failed: unknown) =>
          log.error({ id: entry.id, error: messageOf(failed) }, 'the outbox of memory could not be written'),
      );
      return false;
    }
  }
}
