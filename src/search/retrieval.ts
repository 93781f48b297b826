import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { createSpaceIndexes } from './index/space-indexes.ts';
import { listEntries, removeEntries, type WriteCounts, writeEntries } from './index/write-entries.ts';
import { embedPending } from './meaning/embed-pending.ts';
import type { Embedder, VectorStore } from './ports.ts';
import { search } from './search.ts';
import type { Entry, SearchAnswer, SearchRequest, Space } from './types.ts';

/** Search over runbooks, incidents and documents: entries in PostgreSQL, shared by all processes; vectors in Chroma. */
export interface Retrieval {
  /** Writes or replaces by key. Findable by its words when it returns, by meaning once `embedPending` has been there. */
  upsert(space: Space, entries: readonly Entry[]): Promise<WriteCounts>;
  /** Returns how many were there. Not findable when it returns. */
  remove(space: Space, keys: readonly string[]): Promise<number>;
  search(request: SearchRequest): Promise<SearchAnswer>;
  /** Keys and metadata of all entries of a space, by key. */
  list(
    space: Space,
  ): Promise<readonly { readonly key: string; readonly metadata: Readonly<Record<string, unknown>> }[]>;
  /** Embeds some of what is pending in these spaces; call it until it returns 0. Any number of processes may. */
  embedPending(spaces: readonly Space[]): Promise<number>;
}

export interface RetrievalDeps {
  readonly sql: Sql;
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  readonly log: Log;
}

export function createRetrieval(deps: RetrievalDeps): Retrieval {
  const { sql } = deps;
  const searching = { ...deps, indexes: createSpaceIndexes(sql) };
  return {
    upsert: (space, entries) => writeEntries(sql, space, entries),
    remove: (space, keys) => removeEntries(sql, space, keys),
    search: (request) => search(searching, request),
    list: (space) => listEntries(sql, space),
    embedPending: (spaces) => embedPending(deps, spaces),
  };
}
