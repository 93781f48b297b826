import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Embedder, isOffline, type VectorHit, type VectorStore } from '../ports.ts';
import { withoutPlaceholders } from '../text/without-placeholders.ts';
import { type SearchAnswer, type Space, spaceName } from '../types.ts';
import { collectionOf, keyOfHit } from './collections.ts';

/** Several chunks of one text may be near. Asked of each collection. */
const CHUNKS = 60;
/** A model's time grows with every word; an alert says what it is about at its beginning. */
const CHARACTERS = 120;

/** Nearness in meaning: 1 is the same, 0 has nothing in common. */
export interface Nearest {
  readonly state: SearchAnswer['meaning'];
  /** By the name of the space, then by key: that of the nearest chunk. */
  readonly bySpace: ReadonlyMap<
    string,
    {
      readonly near: ReadonlyMap<string, number>;
      /** No chunk that is not among them is nearer. */
      readonly others: number;
    }
  >;
}

/**
 * Asks the vector database what is near; never throws and never takes longer than it may. The offline embedding is not
 * asked: on queries that its share was not chosen by, it finds nothing that words do not (bench/README.md).
 */
export async function findNearest(
  deps: {
    readonly vectors: VectorStore;
    readonly embedder: Embedder;
    readonly log: Log;
  },
  text: string,
  spaces: readonly Space[],
  withinMs: number,
): Promise<Nearest> {
  if (spaces.length === 0 || withinMs <= 0 || isOffline(deps.embedder))
    return { state: 'none', bySpace: new Map() };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Nearest>((resolve) => {
    timer = setTimeout(() => resolve({ state: 'late', bySpace: new Map() }), withinMs);
  });
  const asked = ask().catch((error: unknown): Nearest => {
    deps.log.debug({ error: messageOf(error) }, 'search goes by words alone');
    return { state: 'away', bySpace: new Map() };
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }

  async function ask(): Promise<Nearest> {
    const [embedding] = await deps.embedder.embed([embeddedPart(text)]);
    if (!embedding) return { state: 'none', bySpace: new Map() };
    const collections = [...new Set(spaces.map(collectionOf))];
    const hits = new Map(
      await Promise.all(
        collections.map(async (name) => {
          const collection = deps.vectors.collection(name, deps.embedder.fingerprint);
          return [name, await collection.query(embedding, CHUNKS, Math.max(withinMs, 1_000))] as const;
        }),
      ),
    );
    const bySpace = new Map(
      spaces.map((space) => {
        const near = new Map<string, number>();
        const found = (hits.get(collectionOf(space)) ?? []).slice(0, CHUNKS);
        for (const hit of found) {
          const key = keyOfHit(space, hit);
          if (key !== null) near.set(key, Math.max(near.get(key) ?? 0, nearnessOf(hit)));
        }
        const last = found.at(-1);
        const others = found.length < CHUNKS || !last ? 0 : nearnessOf(last);
        return [spaceName(space), { near, others }] as const;
      }),
    );
    const any = [...hits.values()].some((found) => found.length > 0);
    return { state: any ? 'used' : 'none', bySpace };
  }
}

/** Whoever can write to the vector database can have it say anything: it weighs what nearness may weigh, and no more. */
function nearnessOf({ distance }: VectorHit): number {
  return Number.isFinite(distance) ? Math.min(1, Math.max(0, 1 - distance)) : 0;
}

/** What of a query is embedded. */
export function embeddedPart(text: string): string {
  const told = withoutPlaceholders(text.slice(0, 10 * CHARACTERS)).replace(/[\s.]*\s+/g, ' ');
  return told.trim().slice(0, CHARACTERS);
}
