import type { ChromaClient, Collection } from 'chromadb';
import { within } from '../../core/within.ts';
import type { StoredText, VectorUpkeep } from '../../search/reembed/ports.ts';
import { connect, plain, unavailable } from './client.ts';

const TIMEOUT_MS = 10_000;
const PAGE = 300;

/** What changing the embedding needs to know and do about whole collections of the server at `host`. */
export function createChromaUpkeep({ host }: { readonly host: string }): VectorUpkeep {
  let client: Promise<ChromaClient> | undefined;

  async function use<T>(work: (client: ChromaClient) => Promise<T>): Promise<T> {
    try {
      client ??= connect(host);
      return await within(TIMEOUT_MS, client.then(work));
    } catch (error) {
      client = undefined;
      throw unavailable(host, error);
    }
  }

  /** Undefined when there is none: asking for one that is missing is an error like any other. */
  const find = (name: string): Promise<Collection | undefined> =>
    use(async (chroma) => {
      for (let offset = 0; ; offset += PAGE) {
        const page = await chroma.listCollections({ limit: PAGE, offset });
        const found = page.find((one) => one.name === name);
        if (found) return chroma.getCollection({ name, embeddingFunction: noEmbedding });
        if (page.length < PAGE) return undefined;
      }
    });

  return {
    async madeBy(name) {
      const found = await find(name);
      return found ? String(plain(found.metadata)['embedding'] ?? 'unknown') : null;
    },
    async readAll(name) {
      const found = await find(name);
      const all: StoredText[] = [];
      if (!found) return all;
      for (;;) {
        const page = await use(() =>
          found.get({ limit: PAGE, offset: all.length, include: ['documents', 'metadatas'] }),
        );
        for (const { id, document, metadata } of page.rows())
          all.push({ id, document: document ?? '', metadata: plain(metadata) });
        if (page.ids.length < PAGE) return all;
      }
    },
    async rename(from, to) {
      const found = await find(from);
      if (!found) return false;
      await use(() => found.modify({ name: to }));
      return true;
    },
    async drop(name) {
      if (await find(name)) await use((chroma) => chroma.deleteCollection({ name }));
    },
  };
}

/** Vectors are ours: without this the client looks for a package and warns. */
const noEmbedding = { generate: () => Promise.reject(new Error('vectors are given, not made here')) };
