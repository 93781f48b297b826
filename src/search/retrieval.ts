import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { tidySpaces } from './index/tidy-spaces.ts';
import { listEntries, removeEntries, type Written, writeEntries } from './index/write-entries.ts';
import { embedPending } from './meaning/embed-pending.ts';
import { createPatience } from './meaning/patience.ts';
import type { Embedder, VectorStore } from './ports.ts';
import { createTermCounts } from './query/term-counts.ts';
import { search } from './search.ts';
import type { Entry, SearchAnswer, SearchRequest, Space } from './types.ts';

/** Search over runbooks, incidents and documents: one index in PostgreSQL, shared by all processes; vectors in Chroma. */
export interface Retrieval {
  /** Writes or replaces by key. Findable by its words when it returns, by meaning once `embedPending` has been there. */
  put(space: Space, entries: readonly Entry[]): Promise<Written>;
  /** Returns how many were there. Not findable when it returns. */
  remove(space: Space, keys: readonly string[]): Promise<number>;
  search(request: SearchRequest): Promise<SearchAnswer>;
  /** Keys and metadata of all entries of a space, by key. */
  list(
    space: Space,
  ): Promise<readonly { readonly key: string; readonly metadata: Readonly<Record<string, unknown>> }[]>;
  /** Embeds some of what is pending in these spaces; call it until it returns 0. Any number of processes may. */
  embedPending(spaces: readonly Space[]): Promise<number>;
  /** Takes what was replaced and removed out of the lists; cheap when there is little. Returns how many entries moved. */
  tidy(): Promise<number>;
}

export interface RetrievalDeps {
  readonly sql: Sql;
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  /** A second one for queries, where documents are embedded at the same time: a query then never waits behind them. */
  readonly queryEmbedder?: Embedder;
  readonly log: Log;
}

export function createRetrieval(deps: RetrievalDeps): Retrieval {
  const { sql } = deps;
  const searching = {
    ...deps,
    embedder: deps.queryEmbedder ?? deps.embedder,
    counts: createTermCounts(),
    patience: createPatience(),
  };
  return {
    put: (space, entries) => writeEntries(sql, space, entries),
    remove: (space, keys) => removeEntries(sql, space, keys),
    search: (request) => search(searching, request),
    list: (space) => listEntries(sql, space),
    embedPending: (spaces) => embedPending(deps, spaces),
    tidy: () => tidySpaces(sql),
  };
}
