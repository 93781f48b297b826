import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { collectionOf } from '../src/search/meaning/collections.ts';
import type { Space } from '../src/search/types.ts';
import type { BenchDocument, BenchQuery } from './retrieval-data.ts';
import { percentile, rounded } from './retrieval-measures.ts';
import { mixDocuments, seededRandom } from './retrieval-mix.ts';
import type { RetrievalRig } from './retrieval-rig.ts';
import type { WriterOrder } from './retrieval-writer.ts';

export interface Scale {
  readonly documents: number;
  /** ms, words and meaning, while two other processes write. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** The same without meaning. */
  readonly wordsP50Ms: number;
  readonly wordsP95Ms: number;
  readonly searches: number;
  readonly meaningUsed: number;
  /** By the writers, meanwhile. */
  readonly writtenPerSecond: number;
  /** What one of them wrote last is found: ms after it was committed until a search here finds it. */
  readonly freshAfterMs: number;
  readonly indexMegabytes: number;
  readonly indexedPerSecond: number;
}

const SPACE: Space = { kind: 'runbook', scope: 'kubernetes' };
const WRITERS = 2;
const SEARCHES = 300;

/**
 * One domain with this many documents mixed from the corpus (sections of several under a new title), each with one
 * vector: random ones, because embedding would take hours and Chroma's time does not depend on what they mean.
 */
export async function measureScale(
  rig: RetrievalRig,
  corpus: readonly BenchDocument[],
  queries: readonly BenchQuery[],
  documents: number,
): Promise<Scale> {
  const started = performance.now();
  for (let i = 0; i < documents; i += 500) {
    const some = mixDocuments(corpus, Math.min(500, documents - i), i);
    await rig.retrieval.put(
      SPACE,
      some.map(({ id, title, text }) => ({ key: id, title, text })),
    );
    if (i % 10_000 === 0) process.stderr.write(`indexed ${i}\n`);
  }
  const indexedPerSecond = documents / ((performance.now() - started) / 1000);
  await fillVectors(rig, documents);
  for (const { title } of corpus.slice(0, 20))
    await rig.retrieval.search({ text: title, spaces: [SPACE], meaningWithinMs: 5_000 });

  const writers = Array.from({ length: WRITERS }, (_, writer) =>
    startWriter({ databaseUrl: rig.databaseUrl, corpus: corpus.slice(0, 200), documents, writer }),
  );
  try {
    await Promise.all(writers.map(({ ready }) => ready));
    const asked = Array.from({ length: SEARCHES }, (_, i) => queries[i % queries.length]?.text ?? '');
    let meaningUsed = 0;
    const whole = await timed(asked, async (text) => {
      const { meaning } = await rig.retrieval.search({ text, spaces: [SPACE] });
      if (meaning === 'used') meaningUsed += 1;
    });
    const words = await timed(asked, (text) =>
      rig.retrieval.search({ text, spaces: [SPACE], meaningWithinMs: 0 }),
    );
    const freshAfterMs = await freshness(rig);
    const written = await Promise.all(writers.map(({ stop }) => stop()));
    const [size] = await rig.sql<{ bytes: number }>`
      SELECT pg_total_relation_size('search_entry') + pg_total_relation_size('search_posting') AS bytes`;
    return rounded({
      documents,
      p50Ms: percentile(whole, 0.5),
      p95Ms: percentile(whole, 0.95),
      maxMs: Math.max(...whole),
      wordsP50Ms: percentile(words, 0.5),
      wordsP95Ms: percentile(words, 0.95),
      searches: SEARCHES,
      meaningUsed,
      writtenPerSecond: written.reduce((sum, perSecond) => sum + perSecond, 0),
      freshAfterMs,
      indexMegabytes: (size?.bytes ?? 0) / 1e6,
      indexedPerSecond,
    });
  } finally {
    for (const { kill } of writers) kill();
  }
}

async function timed(texts: readonly string[], search: (text: string) => Promise<unknown>) {
  const times: number[] = [];
  for (const text of texts) {
    const started = performance.now();
    await search(text);
    times.push(performance.now() - started);
  }
  return times;
}

async function freshness({ retrieval }: RetrievalRig): Promise<number> {
  await retrieval.put(SPACE, [{ key: 'fresh', title: 'Zyxwvut quorum lost', text: 'The zyxwvut is away.' }]);
  const written = performance.now();
  for (;;) {
    const { hits } = await retrieval.search({ text: 'zyxwvut', spaces: [SPACE], meaningWithinMs: 0 });
    if (hits[0]?.key === 'fresh') return performance.now() - written;
    if (performance.now() - written > 60_000) throw new Error('what was written is not found');
  }
}

async function fillVectors({ vectors, embedder }: RetrievalRig, documents: number): Promise<void> {
  const random = seededRandom(7);
  const collection = vectors.collection(collectionOf(SPACE), embedder.fingerprint);
  for (let i = 0; i < documents; i += 250) {
    const some = Array.from({ length: Math.min(250, documents - i) }, (_, n) => ({
      id: `mixed-${i + n}#0`,
      document: '',
      metadata: { key: `mixed-${i + n}`, scope: SPACE.scope },
      embedding: Array.from({ length: 512 }, () => random() - 0.5),
    }));
    await collection.upsert(some, 60_000);
    if (i % 10_000 === 0) process.stderr.write(`vectors ${i}\n`);
  }
}

/** A process that replaces and adds documents until it is told to stop. */
function startWriter(order: WriterOrder) {
  const self = fileURLToPath(import.meta.url);
  const file = self.replace(/retrieval-scale(\.[jt]s)$/, 'retrieval-writer$1');
  const child = fork(file);
  // By message: a command line is readable by everybody.
  child.send(order);
  const ready = once(child, 'message');
  return {
    ready,
    stop: async (): Promise<number> => {
      const answered = once(child, 'message');
      child.send('stop');
      const [perSecond] = (await answered) as [number];
      return perSecond;
    },
    kill: () => void child.kill(),
  };
}
