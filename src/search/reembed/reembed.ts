import type { Domain } from '../../core/incident.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import { incidentsOf, runbooksOf } from '../collections.ts';
import type { Embedder, VectorMetadata, VectorStore } from '../ports.ts';
import type { StoredText, VectorUpkeep } from './ports.ts';

/** Every collection there may be: runbooks and incidents of each domain, and the documents of all stores. */
export function allCollections(domains: readonly Domain[]): readonly string[] {
  return [...domains.map(runbooksOf), ...domains.map(incidentsOf), 'documents'];
}

const BATCH = 16;
const TIMEOUT_MS = 10_000;
const next = (name: string) => `${name}.next`;
const old = (name: string) => `${name}.old`;

export interface ReembedDeps {
  readonly sql: Sql;
  readonly upkeep: VectorUpkeep;
  readonly vectors: VectorStore;
  /** The embedding that is to take over. */
  readonly wanted: Embedder;
  readonly collections: readonly string[];
  /** Called once all texts are embedded, when the collections change places: queries must use `wanted` from here on. */
  readonly takeOver: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Names of collections that another embedding made, or that were left between two. */
export async function madeByOthers(
  upkeep: VectorUpkeep,
  fingerprint: string,
  collections: readonly string[],
): Promise<readonly { readonly name: string; readonly by: string }[]> {
  const found: { name: string; by: string }[] = [];
  for (const name of collections) {
    const by = (await upkeep.madeBy(name)) ?? (await upkeep.madeBy(old(name)));
    const unfinished = by === fingerprint ? await upkeep.madeBy(old(name)) : null;
    if (by !== null && by !== fingerprint) found.push({ name, by });
    else if (unfinished !== null) found.push({ name, by: unfinished });
  }
  return found;
}

/**
 * Embeds everything again beside the collections in use, which answer meanwhile, then puts the new ones in their places.
 * What it is stopped in, the next call goes on with; two processes may be at it. Vectors of two embeddings are never in one
 * collection. Texts come from the collections themselves, so nothing that only they have is lost.
 *
 * @throws OpsError CHROMA_*, EMBEDDINGS_*: call again
 */
export async function reembed(deps: ReembedDeps): Promise<void> {
  const { upkeep, wanted, collections, signal, log } = deps;
  const others = await madeByOthers(upkeep, wanted.fingerprint, collections);
  for (const { name } of others) {
    const leftover = await upkeep.madeBy(next(name));
    // Of an embedding that was given up before it took over.
    if (leftover !== null && leftover !== wanted.fingerprint) await upkeep.drop(next(name));
  }
  for (const { name } of others) {
    const inUse = await upkeep.madeBy(name);
    // It has left its place already, or the new one stands there: a process ended between the two.
    if (inUse === null || inUse === wanted.fingerprint) continue;
    while (!signal.aborted && (await copy(deps, name, next(name))) > 0);
  }
  if (signal.aborted) return;
  await deps.sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(hashtextextended('collections change places', 0))`;
    for (const { name } of others) await changePlaces(deps, name);
  });
  await deps.takeOver();
  for (const { name } of others) {
    // What was still being written to the collection when it left its place.
    await copy(deps, old(name), name);
    await upkeep.drop(old(name));
    await upkeep.drop(next(name));
  }
  if (others.length > 0)
    log.info({ embedding: wanted.fingerprint }, 'everything is embedded by the new embedding');
}

async function changePlaces({ upkeep, wanted }: ReembedDeps, name: string): Promise<void> {
  // Another process may have been first.
  const there = await upkeep.madeBy(name);
  if (there === wanted.fingerprint || (await upkeep.madeBy(next(name))) === null) return;
  if (there !== null) {
    await upkeep.drop(old(name));
    await upkeep.rename(name, old(name));
  }
  await upkeep.rename(next(name), name);
}

/** Makes the one say what the other says, embedded by the wanted embedding. Into the place itself it only adds. Returns how many differed. */
async function copy(deps: ReembedDeps, from: string, to: string): Promise<number> {
  const { upkeep, vectors, wanted, signal, log } = deps;
  const [source, target] = [await upkeep.readAll(from), await upkeep.readAll(to)];
  const adding = from === old(to);
  const there = new Map(target.map((one) => [one.id, one]));
  const missing = source.filter((one) => {
    const same = there.get(one.id);
    return adding ? same === undefined : same === undefined || !isSame(one, same);
  });
  const ids = new Set(source.map(({ id }) => id));
  const gone = adding ? [] : target.filter(({ id }) => !ids.has(id)).map(({ id }) => id);
  const into = vectors.collection(to, wanted.fingerprint);
  for (let at = 0; at < missing.length && !signal.aborted; at += BATCH) {
    const some = missing.slice(at, at + BATCH);
    const embeddings = await wanted.embed(
      some.map(({ document }) => document),
      'later',
    );
    await into.upsert(
      some.map((one, i) => ({ ...one, embedding: embeddings[i] ?? [] })),
      TIMEOUT_MS,
    );
    log.info(
      { collection: from, done: Math.min(at + BATCH, missing.length), of: missing.length },
      'embedding again',
    );
  }
  if (gone.length > 0) await into.remove(gone, TIMEOUT_MS);
  // An empty one has to be there to take the place.
  if (source.length === 0) await into.list(TIMEOUT_MS);
  return missing.length + gone.length;
}

function isSame(a: StoredText, b: StoredText): boolean {
  return a.document === b.document && flat(a.metadata) === flat(b.metadata);
}

function flat(metadata: VectorMetadata): string {
  return JSON.stringify(Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
