import { messageOf } from '../core/errors.ts';
import type { Domain } from '../core/incident.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { createChromaUpkeep } from '../infra/chroma/upkeep.ts';
import { type EmbeddingChoice, embedderOf, openEmbedder } from '../infra/embeddings/open-embedder.ts';
import type { Embedder, VectorStore } from '../search/ports.ts';
import { allCollections, madeByOthers, reembed } from '../search/reembed/reembed.ts';
import { createSwitchingEmbedder } from '../search/reembed/switching-embedder.ts';

const AGAIN_MS = 10_000;

/**
 * The embedding of the configuration; while collections made by another are embedded again in the background, that other
 * one, so that meaning goes on answering. Where it cannot be had any more, words answer alone until it is done.
 */
export async function openEmbedding(deps: {
  readonly sql: Sql;
  readonly chromaHost: string;
  readonly vectors: VectorStore;
  readonly choice: EmbeddingChoice;
  readonly domains: readonly Domain[];
  readonly enabled: boolean;
  readonly log: Log;
}): Promise<{ readonly embedder: Embedder; start(): void; stop(): Promise<void> }> {
  const { log } = deps;
  const collections = allCollections(deps.domains);
  const wanted = openEmbedder(deps.choice, log);
  const upkeep = createChromaUpkeep({ host: deps.chromaHost });
  const first = deps.enabled ? ((await inUse()) ?? wanted) : wanted;
  const embedder = createSwitchingEmbedder(first);
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();

  async function inUse(): Promise<Embedder | null> {
    try {
      const [other] = await madeByOthers(upkeep, wanted.fingerprint, collections);
      if (!other) return null;
      log.info(
        { from: other.by, to: wanted.fingerprint },
        'the embedding has changed: everything is embedded again',
      );
      return embedderOf(other.by, log);
    } catch (error) {
      log.warn(
        { error: messageOf(error) },
        'which embedding the collections were made with could not be asked yet',
      );
      return null;
    }
  }

  async function change(): Promise<void> {
    try {
      await reembed({
        ...deps,
        upkeep,
        wanted,
        collections,
        takeOver: () => embedder.switchTo(wanted),
        signal: ending.signal,
      });
    } catch (error) {
      if (ending.signal.aborted) return;
      log.warn({ error: messageOf(error) }, 'embedding everything again was interrupted; it goes on');
      timer = setTimeout(() => {
        round = change();
      }, AGAIN_MS);
    }
  }

  return {
    embedder,
    start() {
      if (deps.enabled) round = change();
    },
    async stop() {
      ending.abort();
      clearTimeout(timer);
      await wanted.close();
      await embedder.close();
      await round;
    },
  };
}
