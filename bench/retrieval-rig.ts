import { join } from 'node:path';
import { openStore } from '../src/app/store.ts';
import { loadConfig } from '../src/config/config.ts';
import type { Sql } from '../src/core/sql.ts';
import { createChromaStore } from '../src/infra/chroma/client.ts';
import { startEmbeddedChroma } from '../src/infra/chroma/embedded-chroma.ts';
import { createEmbedder } from '../src/infra/embeddings/embedder.ts';
import { createLog } from '../src/infra/log/log.ts';
import type { Embedder, VectorStore } from '../src/search/ports.ts';
import { createRetrieval, type Retrieval } from '../src/search/retrieval.ts';

export interface RetrievalRig {
  readonly retrieval: Retrieval;
  readonly sql: Sql;
  readonly databaseUrl: string;
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  stop(): Promise<void>;
}

/** The bot's own stores, empty, under `dataDir`: a PostgreSQL and a Chroma of their own, whatever is configured. */
export async function startRetrievalRig(dataDir: string): Promise<RetrievalRig> {
  const log = createLog('error');
  const config = loadConfig({ SENTRY_DATA_DIR: dataDir });
  const store = await openStore(config, log);
  const chroma = await startEmbeddedChroma({ dataDir: join(dataDir, 'chroma'), log }).catch(
    async (error: unknown) => {
      await store.stop();
      throw error;
    },
  );
  const embedder = createEmbedder({ log });
  const queryEmbedder = createEmbedder({ log });
  const vectors = createChromaStore({ host: chroma.host, log });
  return {
    retrieval: createRetrieval({ sql: store.sql, vectors, embedder, queryEmbedder, log }),
    sql: store.sql,
    databaseUrl: store.url,
    vectors,
    embedder,
    stop: async () => {
      await Promise.all([embedder.close(), queryEmbedder.close()]);
      await chroma.stop();
      await store.stop();
    },
  };
}
