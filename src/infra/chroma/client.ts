import type { ChromaClient, Collection, Metadata, Where } from 'chromadb';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { within } from '../../core/within.ts';
import type { VectorCollection, VectorFilter, VectorMetadata, VectorStore } from '../../search/ports.ts';

/** A page of `list`: Chroma answers 300 rows at a time on its own cloud, a server of one's own any number. */
const PAGE = 300;
const OPEN_TIMEOUT_MS = 5_000;

/** The Chroma server at `host` (`http://127.0.0.1:8000`). Nothing is connected before the first call. */
export function createChromaStore({ host, log }: { readonly host: string; readonly log: Log }): VectorStore {
  let client: Promise<ChromaClient> | undefined;
  // By name and embedding: while one takes over from another there are two of a name, one after the other.
  const open = new Map<string, Promise<Collection>>();
  const keyOf = (name: string, fingerprint: string) => `${name} ${fingerprint}`;
  return { collection };

  function collection(name: string, fingerprint: string): VectorCollection {
    return {
      upsert: (records, timeoutMs) =>
        call(name, fingerprint, timeoutMs, async (chroma) => {
          if (records.length === 0) return;
          await chroma.upsert({
            ids: records.map(({ id }) => id),
            documents: records.map(({ document }) => document),
            metadatas: records.map(({ metadata }) => metadata as Metadata),
            embeddings: records.map(({ embedding }) => [...embedding]),
          });
        }),
      query: (embedding, k, timeoutMs, filter) =>
        call(name, fingerprint, timeoutMs, async (chroma) => {
          const found = await chroma.query({
            queryEmbeddings: [[...embedding]],
            nResults: k,
            ...(filter ? { where: whereOf(filter) } : {}),
            include: ['documents', 'metadatas', 'distances'],
          });
          return (found.rows()[0] ?? []).map(({ id, document, metadata, distance }) => ({
            id,
            document: document ?? '',
            metadata: plain(metadata),
            distance: distance ?? 2,
          }));
        }),
      list: (timeoutMs) =>
        call(name, fingerprint, timeoutMs, async (chroma) => {
          const all: { id: string; metadata: VectorMetadata }[] = [];
          const until = performance.now() + timeoutMs;
          for (;;) {
            // Nobody waits any more: a server that always has another page is not asked for ever.
            if (performance.now() > until) throw new Error('the list did not end in time');
            const page = await chroma.get({ limit: PAGE, offset: all.length, include: ['metadatas'] });
            for (const { id, metadata } of page.rows()) all.push({ id, metadata: plain(metadata) });
            if (page.ids.length < PAGE) return all;
          }
        }),
      remove: (ids, timeoutMs) =>
        call(name, fingerprint, timeoutMs, async (chroma) => {
          if (ids.length > 0) await chroma.delete({ ids: [...ids] });
        }),
    };
  }

  async function call<T>(
    name: string,
    fingerprint: string,
    timeoutMs: number,
    use: (collection: Collection) => Promise<T>,
  ): Promise<T> {
    try {
      return await within(timeoutMs, opened(name, fingerprint).then(use));
    } catch (error) {
      if (error instanceof OpsError && error.code === 'CHROMA_OTHER_EMBEDDING') throw error;
      // The server may have been replaced by one that does not know the collection's id.
      open.delete(keyOf(name, fingerprint));
      throw unavailable(host, error);
    }
  }

  function opened(name: string, fingerprint: string): Promise<Collection> {
    const key = keyOf(name, fingerprint);
    const known = open.get(key);
    if (known) return known;
    const opening = openCollection(name, fingerprint);
    open.set(key, opening);
    opening.catch((error: unknown) => {
      open.delete(key);
      log.debug({ collection: name, error: messageOf(error) }, 'collection not opened');
    });
    return opening;
  }

  async function openCollection(name: string, fingerprint: string): Promise<Collection> {
    client ??= connect(host);
    const chroma = await within(
      OPEN_TIMEOUT_MS,
      client.then((connected) =>
        connected.getOrCreateCollection({
          name,
          // Vectors are ours: without this the client looks for an embedding package and warns.
          embeddingFunction: null,
          configuration: { hnsw: { space: 'cosine' } },
          metadata: { embedding: fingerprint },
        }),
      ),
    );
    const made = plain(chroma.metadata as Metadata | undefined)['embedding'] ?? 'unknown';
    if (made !== fingerprint) throw otherEmbedding(name, String(made), fingerprint);
    return chroma;
  }
}

export async function connect(host: string): Promise<ChromaClient> {
  const { ChromaClient: Client } = await import('chromadb');
  const url = new URL(host);
  const ssl = url.protocol === 'https:';
  return new Client({ host: url.hostname, port: Number(url.port || (ssl ? 443 : 80)), ssl });
}

/** Chroma takes `$and` and `$or` only of two and more. */
function whereOf(filter: VectorFilter): Where {
  const one = (parts: readonly Where[], joined: '$and' | '$or'): Where =>
    parts.length === 1 ? (parts[0] as Where) : ({ [joined]: parts } as Where);
  return one(
    filter.map((all) =>
      one(
        Object.entries(all).map(([key, value]) => ({ [key]: value })),
        '$and',
      ),
    ),
    '$or',
  );
}

export function plain(metadata: Metadata | null | undefined): VectorMetadata {
  return Object.fromEntries(
    Object.entries(metadata ?? {}).filter(
      (entry): entry is [string, string | number | boolean] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number' || typeof entry[1] === 'boolean',
    ),
  );
}

export function unavailable(host: string, cause: unknown): OpsError {
  return new OpsError(
    'CHROMA_UNAVAILABLE',
    `Chroma at ${host} does not answer as it should: ${messageOf(cause)}`,
    {
      hint: 'Check that the Chroma server runs (CHROMA_HOST); what could not be written is tried again by itself.',
      retryable: true,
      cause,
    },
  );
}

function otherEmbedding(name: string, made: string, wanted: string): OpsError {
  return new OpsError(
    'CHROMA_OTHER_EMBEDDING',
    `the Chroma collection "${name}" was made with the embedding "${made}", not "${wanted}"`,
    {
      hint: `Distances between the two mean nothing. The bot embeds "${name}" again in the background when it starts with the other one; until then words find what there is.`,
    },
  );
}
