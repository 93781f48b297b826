import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Space } from '../src/search/types.ts';
import type { BenchDocument, BenchQuery } from './retrieval-data.ts';
import { percentile, rounded } from './retrieval-measures.ts';
import { mixDocuments } from './retrieval-mix.ts';
import type { RetrievalRig } from './retrieval-rig.ts';
import type { WriterOrder } from './retrieval-writer.ts';

export interface Scale {
  readonly documents: number;
  /** Of the first search of a process, which reads the index into memory. */
  readonly firstMs: number;
  /** What the process takes for it, with what else it has. */
  readonly residentMegabytes: number;
  /** Left alone. */
  readonly quietP50Ms: number;
  readonly quietP95Ms: number;
  /** While two other processes write. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  readonly searches: number;
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

/** One domain with this many documents mixed from the corpus (sections of several under a new title). */
export async function measureScale(
  rig: RetrievalRig,
  corpus: readonly BenchDocument[],
  queries: readonly BenchQuery[],
  documents: number,
): Promise<Scale> {
  const started = performance.now();
  for (let i = 0; i < documents; i += 500) {
    const some = mixDocuments(corpus, Math.min(500, documents - i), i);
    await rig.retrieval.upsert(
      SPACE,
      some.map(({ id, title, text }) => ({ key: id, title, text })),
    );
    if (i % 10_000 === 0) process.stderr.write(`indexed ${i}\n`);
  }
  const indexedPerSecond = documents / ((performance.now() - started) / 1000);
  const search = (text: string) => rig.retrieval.search({ text, spaces: [SPACE], meaningWithinMs: 0 });
  const before = process.memoryUsage().rss;
  const [firstMs = 0] = await timed([corpus[0]?.title ?? ''], search);
  const residentMegabytes = (process.memoryUsage().rss - before) / 1e6;
  const asked = Array.from({ length: SEARCHES }, (_, i) => queries[i % queries.length]?.text ?? '');
  const quiet = await timed(asked, search);

  const writers = Array.from({ length: WRITERS }, (_, writer) =>
    startWriter({ databaseUrl: rig.databaseUrl, corpus: corpus.slice(0, 200), documents, writer }),
  );
  try {
    await Promise.all(writers.map(({ ready }) => ready));
    const busy = await timed(asked, search);
    const freshAfterMs = await freshness(rig);
    const written = await Promise.all(writers.map(({ stop }) => stop()));
    const [size] = await rig.sql<{ bytes: number }>`
      SELECT pg_total_relation_size('search_entry') AS bytes`;
    return rounded({
      documents,
      firstMs,
      residentMegabytes,
      quietP50Ms: percentile(quiet, 0.5),
      quietP95Ms: percentile(quiet, 0.95),
      p50Ms: percentile(busy, 0.5),
      p95Ms: percentile(busy, 0.95),
      maxMs: Math.max(...busy),
      searches: SEARCHES,
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
  await retrieval.upsert(SPACE, [
    { key: 'fresh', title: 'Zyxwvut quorum lost', text: 'The zyxwvut is away.' },
  ]);
  const written = performance.now();
  for (;;) {
    const { hits } = await retrieval.search({ text: 'zyxwvut', spaces: [SPACE], meaningWithinMs: 0 });
    if (hits[0]?.key === 'fresh') return performance.now() - written;
    if (performance.now() - written > 60_000) throw new Error('what was written is not found');
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
