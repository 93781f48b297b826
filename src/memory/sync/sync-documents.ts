import type { Sql } from '../../core/sql.ts';
import type { Retrieval } from '../../search/retrieval.ts';
import { type Entry, type Space, spaceName, spaceOf } from '../../search/types.ts';

const BATCH = 200;

/** The space of a document: its store, in `conversation_memory` with the incident: what a reader may read is named by it. */
export function documentSpace(store: string, incidentId: string | null): Space {
  return { kind: 'document', scope: incidentId === null ? store : `${store}/${incidentId}` };
}

interface Changed extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly store: string;
  readonly incident_id: string | null;
  readonly path: string;
  readonly version: number;
  readonly title: string;
  readonly content: string;
  readonly doc_type: string;
  readonly trust: string;
  readonly domain: string | null;
  readonly entities: unknown;
  readonly updated_at: string;
}

/**
 * Puts into the index what documents say now, and takes out what is retired or forgotten. What a crash left undone is done
 * by the next call, in whichever process. Returns how many entries it wrote or removed.
 *
 * @param changedWithinMs looks at nothing that was written longer ago, and removes nothing: cheap enough to be done before
 * a search, which shows nothing that is gone anyway
 * @param signal leaves the rest to the next call
 */
export async function syncDocuments(
  sql: Sql,
  retrieval: Retrieval,
  changedWithinMs: number | null = null,
  signal?: AbortSignal,
): Promise<number> {
  const put = await putChanged(sql, retrieval, changedWithinMs, signal);
  return changedWithinMs === null ? put + (await removeGone(sql, retrieval, signal)) : put;
}

async function putChanged(
  sql: Sql,
  retrieval: Retrieval,
  changedWithinMs: number | null,
  signal: AbortSignal | undefined,
): Promise<number> {
  for (let put = 0; ; ) {
    const rows = await sql<Changed>`
      SELECT d.id, d.store, d.incident_id, d.path, d.version, d.title, d.content, d.doc_type, d.trust, d.domain,
             d.entities, d.updated_at
        FROM memory_document d
       WHERE d.retired_at IS NULL
         AND d.updated_at > coalesce(statement_timestamp() - ${changedWithinMs}::float8 * interval '1 ms', '-infinity')
         AND NOT EXISTS (
         SELECT FROM search_space s JOIN search_entry e ON e.space_id = s.id
          WHERE s.name = 'document:' || d.store || coalesce('/' || d.incident_id, '') AND e.key = d.id
            AND (e.metadata->>'version')::int = d.version)
       ORDER BY d.updated_at LIMIT ${BATCH}`;
    const bySpace = new Map<string, Changed[]>();
    for (const row of rows) {
      const name = spaceName(documentSpace(row.store, row.incident_id));
      bySpace.set(name, [...(bySpace.get(name) ?? []), row]);
    }
    for (const [name, some] of bySpace) {
      if (signal?.aborted) return put;
      await retrieval.upsert(spaceOf(name), some.map(entryOf));
      put += some.length;
    }
    if (rows.length < BATCH) return put;
  }
}

function entryOf(row: Changed): Entry {
  const { id, store, path, version, title, content, trust, domain, entities } = row;
  const metadata = {
    store,
    path,
    version,
    trust,
    domain,
    entities,
    docType: row.doc_type,
    updatedAt: row.updated_at,
  };
  return { key: id, title, text: content, metadata };
}

async function removeGone(sql: Sql, retrieval: Retrieval, signal: AbortSignal | undefined): Promise<number> {
  const gone = await sql<{ name: string; key: string }>`
    SELECT s.name, e.key FROM search_space s JOIN search_entry e ON e.space_id = s.id
     WHERE s.name LIKE 'document:%' AND NOT EXISTS (
       SELECT FROM memory_document d
        WHERE d.id = e.key AND d.retired_at IS NULL
          AND s.name = 'document:' || d.store || coalesce('/' || d.incident_id, ''))`;
  let removed = 0;
  for (const { name, key } of gone) {
    if (signal?.aborted) break;
    removed += await retrieval.remove(spaceOf(name), [key]);
  }
  return removed;
}
