import type { Config } from '../src/config/config.ts';
import { openEmbedder } from '../src/infra/embeddings/open-embedder.ts';
import { createLog } from '../src/infra/log/log.ts';
import { type MeasuredCuts, measureCuts } from '../src/search/distance/measure-cuts.ts';

/** What the configured embedding makes of made-up incidents, and how far a past incident may be for it. */
export async function benchDistance({ memory }: Pick<Config, 'memory'>): Promise<MeasuredCuts> {
  const embedder = openEmbedder(memory.embedding, createLog('error'));
  try {
    return await measureCuts(embedder);
  } finally {
    await embedder.close();
  }
}
