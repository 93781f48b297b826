import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Sql } from '../core/sql.ts';
import { createChromaStore } from '../infra/chroma/client.ts';
import { startEmbeddedChroma } from '../infra/chroma/embedded-chroma.ts';
import { openEmbedder } from '../infra/embeddings/open-embedder.ts';
import { createLog } from '../infra/log/log.ts';
import type { Embedder, VectorStore } from '../search/ports.ts';
import { createRetrieval, type Retrieval } from '../search/retrieval.ts';
import { withStore } from './with-store.ts';

export interface CommandMemory {
  readonly sql: Sql;
  readonly config: Config;
  readonly retrieval: Retrieval;
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
}

/** Runs a command against what the bot remembers, whether the bot runs or not, and leaves running what ran. */
export function withMemory<T>(use: (memory: CommandMemory) => Promise<T>): Promise<T> {
  return withStore(async ({ sql }, config) => {
    const log = createLog('error');
    const chroma =
      config.chromaHost === null
        ? await startEmbeddedChroma({ dataDir: join(config.dataDir, 'chroma'), log })
        : null;
    const embedder = openEmbedder(config.memory.embedding, log);
    const vectors = createChromaStore({ host: chroma?.host ?? config.chromaHost ?? '', log });
    try {
      const retrieval = createRetrieval({ sql, vectors, embedder, log });
      return await use({ sql, config, retrieval, vectors, embedder });
    } finally {
      await embedder.close();
      await chroma?.stop();
    }
  });
}
