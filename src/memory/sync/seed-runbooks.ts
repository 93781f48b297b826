import type { Domain } from '../../core/incident.ts';
import { chunkRunbook, type RunbookChunk } from '../../runbooks/chunk-runbook.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { sha256 } from '../../safety/sha256.ts';
import { runbooksOf } from '../../search/collections.ts';
import type { Embedder, VectorStore } from '../../search/ports.ts';

const TIMEOUT_MS = 10_000;
/** What was seeded is ours to remove; what was promoted from a draft is not. */
const SEEDED = 'seed';

/** Counted in chunks. */
export interface Seeded {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

export interface SeedOptions {
  /** Files are missing from what is given: nothing is removed. */
  readonly incomplete?: boolean;
  /** Of the chunks that differ. */
  readonly onProgress?: (done: number, of: number) => void;
}

interface SeedDeps {
  readonly domains: readonly Domain[];
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
}

/** Makes the runbook collections say what the files say; only what differs is embedded. */
export async function seedRunbooks(
  deps: SeedDeps,
  runbooks: readonly Runbook[],
  options: SeedOptions = {},
): Promise<Seeded> {
  const total = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  for (const domain of deps.domains) {
    const seeded = await seedDomain(deps, domain, runbooks, options);
    for (const key of ['added', 'changed', 'removed', 'unchanged'] as const) total[key] += seeded[key];
  }
  return total;
}

/** The same for one domain; runbooks of others are passed over. */
export async function seedDomain(
  { vectors, embedder }: Omit<SeedDeps, 'domains'>,
  domain: Domain,
  all: readonly Runbook[],
  { incomplete = false, onProgress }: SeedOptions = {},
): Promise<Seeded> {
  const runbooks = all.filter((runbook) => runbook.domains.includes(domain));
  const collection = vectors.collection(runbooksOf(domain), embedder.fingerprint);
  const there = new Map((await collection.list(TIMEOUT_MS)).map(({ id, metadata }) => [id, metadata]));
  const wanted = runbooks.flatMap(chunkRunbook).map((chunk) => ({ chunk, hash: hashOf(chunk) }));
  const differing = wanted.filter(({ chunk, hash }) => there.get(chunk.id)?.['hash'] !== hash);
  const ids = new Set(wanted.map(({ chunk }) => chunk.id));
  const gone = [...(incomplete ? [] : there)]
    .filter(([id, metadata]) => metadata['source'] === SEEDED && !ids.has(id))
    .map(([id]) => id);
  // A few at a time, so that a start that is stopped half-way has got somewhere.
  for (let i = 0; i < differing.length; i += 16) {
    const some = differing.slice(i, i + 16);
    const vectorsOf = await embedder.embed(
      some.map(({ chunk }) => documentOf(chunk)),
      'later',
    );
    await collection.upsert(
      some.map(({ chunk, hash }, n) => ({
        id: chunk.id,
        document: documentOf(chunk),
        metadata: {
          runbook_id: chunk.runbookId,
          title: chunk.title,
          heading: chunk.heading,
          hash,
          source: SEEDED,
        },
        embedding: vectorsOf[n] ?? [],
      })),
      TIMEOUT_MS,
    );
    onProgress?.(Math.min(i + 16, differing.length), differing.length);
  }
  await collection.remove(gone, TIMEOUT_MS);
  const added = differing.filter(({ chunk }) => !there.has(chunk.id)).length;
  return {
    added,
    changed: differing.length - added,
    removed: gone.length,
    unchanged: wanted.length - differing.length,
  };
}

/** The heading stands in the text: a section's words alone often do not say what it is about. */
export function documentOf({ title, heading, text }: RunbookChunk): string {
  return heading === title || heading === '' ? `${title}\n${text}` : `${title} › ${heading}\n${text}`;
}

function hashOf(chunk: RunbookChunk): string {
  return sha256(documentOf(chunk)).slice(0, 32);
}
