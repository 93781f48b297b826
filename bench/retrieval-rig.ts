import { openStore } from '../src/app/store.ts';
import { loadConfig } from '../src/config/config.ts';
import type { Sql } from '../src/core/sql.ts';
import { createLog } from '../src/infra/log/log.ts';
import type { VectorStore } from '../src/search/ports.ts';
import { createRetrieval, type Retrieval } from '../src/search/retrieval.ts';

export interface RetrievalRig {
  readonly retrieval: Retrieval;
  readonly sql: Sql;
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

const noVectors: VectorStore = {
  collection: () => {
    throw new Error('words alone are measured');
  },
};
const noEmbedder = { fingerprint: 'none', embed: async () => [], close: async () => undefined };

/** The bot's own search by words, on an empty PostgreSQL of its own under `dataDir`, whatever is configured. */
export async function startRetrievalRig(dataDir: string): Promise<RetrievalRig> {
  const log = createLog('error');
  const store = await openStore(loadConfig({ SENTRY_DATA_DIR: dataDir }), log);
  return {
    retrieval: createRetrieval({ sql: store.sql, vectors: noVectors, embedder: noEmbedder, log }),
    sql: store.sql,
    databaseUrl: store.url,
    stop: () => store.stop(),
  };
}
