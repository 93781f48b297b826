import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { Embedder, VectorStore } from '../ports.ts';
import { type Space, spaceName, spaceOf } from '../types.ts';
import { chunksOf, MAX_CHUNKS } from './chunks.ts';
import { chunkId, collectionOf } from './collections.ts';

const BATCH = 8;
const TIMEOUT_MS = 8_000;
/** Longer than a batch takes; what a process that died had claimed comes due again. */
const CLAIM_S = 120;

interface Pending extends Readonly<Record<string, unknown>> {
  readonly space_id: number;
  readonly name: string;
  readonly no: number;
  readonly key: string;
  readonly title: string;
  readonly body: string;
}

/**
 * Embeds what is not embedded yet and has the vector database forget what is gone, some at a time; whatever stops it,
 * the rest is still pending. Returns how many entries and removals it finished: 0 when nothing is due, or the vector
 * database is away.
 */
export async function embedPending(
  deps: {
    readonly sql: Sql;
    readonly vectors: VectorStore;
    readonly embedder: Embedder;
    readonly log: Log;
  },
  spaces: readonly Space[],
): Promise<number> {
  const { sql, vectors, embedder, log } = deps;
  // As JSON: postgres.js does not know what an array is before its first connection stands.
  const names = sql.json(spaces.map(spaceName));
  const collection = (space: Space) => vectors.collection(collectionOf(space), embedder.fingerprint);
  try {
    return (await forgetGone()) + (await embedSome());
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'entries were not embedded; it is tried again');
    return 0;
  }

  async function forgetGone(): Promise<number> {
    const gone = await sql<{ space_id: number; name: string; key: string; at: string }>`
      SELECT g.space_id, s.name, g.key, g.at FROM search_gone g JOIN search_space s ON s.id = g.space_id
       WHERE s.name IN (SELECT jsonb_array_elements_text(${names})) ORDER BY g.at LIMIT 100`;
    for (const { space_id, name, key } of gone) {
      const space = spaceOf(name);
      await collection(space).remove(idsFrom(space, key, 0), TIMEOUT_MS);
      // Written again meanwhile: its new vectors may just have been removed.
      await sql`UPDATE search_entry SET embedded_by = NULL, claimed_until = NULL
                 WHERE space_id = ${space_id} AND key = ${key}`;
      await sql`DELETE FROM search_gone WHERE space_id = ${space_id} AND key = ${key}`;
    }
    return gone.length;
  }

  async function embedSome(): Promise<number> {
    const pending = await sql<Pending>`
      UPDATE search_entry e SET claimed_until = clock_timestamp() + ${CLAIM_S} * interval '1 s'
        FROM search_space s
       WHERE s.id = e.space_id AND (e.space_id, e.no) IN (
         SELECT p.space_id, p.no FROM search_entry p JOIN search_space ps ON ps.id = p.space_id
          WHERE ps.name IN (SELECT jsonb_array_elements_text(${names})) AND p.embedded_by IS NULL
            AND (p.claimed_until IS NULL OR p.claimed_until < clock_timestamp())
          ORDER BY p.space_id, p.no LIMIT ${BATCH} FOR UPDATE OF p SKIP LOCKED)
      RETURNING e.space_id, s.name, e.no, e.key, e.title, e.body`;
    try {
      for (const entry of pending) await embedEntry(entry);
    } catch (error) {
      await release(pending);
      throw error;
    }
    return pending.length;
  }

  async function embedEntry({ space_id, name, no, key, title, body }: Pending): Promise<void> {
    const space = spaceOf(name);
    const chunks = chunksOf(title, body);
    const embeddings = await embedder.embed(chunks, 'later');
    const into = collection(space);
    await into.upsert(
      chunks.map((document, n) => ({
        id: chunkId(space, key, n),
        document,
        metadata: { key, scope: space.scope },
        embedding: embeddings[n] ?? [],
      })),
      TIMEOUT_MS,
    );
    if (chunks.length < MAX_CHUNKS) await into.remove(idsFrom(space, key, chunks.length), TIMEOUT_MS);
    // A text that came meanwhile has another number and is still pending; one that went is in search_gone.
    await sql`UPDATE search_entry SET embedded_by = ${embedder.fingerprint}
               WHERE space_id = ${space_id} AND no = ${no}`;
  }

  async function release(pending: readonly Pending[]): Promise<void> {
    await sql`
      UPDATE search_entry SET claimed_until = NULL
       WHERE embedded_by IS NULL AND (space_id, no) IN (
         SELECT * FROM unnest(${sql.array(pending.map(({ space_id }) => space_id))}::int[],
                              ${sql.array(pending.map(({ no }) => no))}::int[]))`;
  }
}

function idsFrom(space: Space, key: string, first: number): readonly string[] {
  return Array.from({ length: MAX_CHUNKS - first }, (_, n) => chunkId(space, key, first + n));
}
