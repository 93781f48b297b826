import type { Retrieval } from '../src/search/retrieval.ts';
import type { Space } from '../src/search/types.ts';
import { compareRetrieval } from './retrieval-compare.ts';
import { type BenchDocument, readCorpus, readQueries } from './retrieval-data.ts';
import { percentile, type Quality, qualityOf, rounded } from './retrieval-measures.ts';
import { startRetrievalRig } from './retrieval-rig.ts';
import { measureScale, type Scale } from './retrieval-scale.ts';

export interface RetrievalOptions {
  readonly corpus: string;
  readonly queries: string;
  /** Baselines, and what every part and the configured embedding give. */
  readonly compare?: boolean;
  /** Instead of quality: latency at this many documents, while others write. */
  readonly documents?: number;
}

export interface Measured extends Quality {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export interface RetrievalResult {
  readonly overall: Measured;
  readonly variants: Readonly<Record<string, Measured>>;
  readonly compared?: Readonly<Record<string, Quality>>;
}

/** Finds the runbooks of the queries through the bot's own search, and counts how well and how fast. */
export async function benchRetrieval(
  dataDir: string,
  options: RetrievalOptions,
): Promise<RetrievalResult | Scale> {
  const corpus = await readCorpus(options.corpus);
  const queries = await readQueries(options.queries);
  const rig = await startRetrievalRig(dataDir);
  try {
    if (options.documents !== undefined) return await measureScale(rig, corpus, queries, options.documents);
    const spaces = await index(rig.retrieval, corpus);
    const answers = new Map<string, readonly string[]>();
    const times = new Map<string, number>();
    // The index is read into memory, and PostgreSQL plans, with the first ones.
    for (const { title } of corpus.slice(0, 10))
      await rig.retrieval.search({ text: title, spaces, meaningWithinMs: 0 });
    for (const { qid, text } of queries) {
      const started = performance.now();
      const { hits } = await rig.retrieval.search({ text, spaces, meaningWithinMs: 0 });
      times.set(qid, performance.now() - started);
      answers.set(
        qid,
        hits.map(({ key }) => key),
      );
    }
    const measured = (of: typeof queries): Measured => {
      const ms = of.map(({ qid }) => times.get(qid) ?? 0);
      return rounded({ ...qualityOf(of, answers), p50Ms: percentile(ms, 0.5), p95Ms: percentile(ms, 0.95) });
    };
    const variants = [...new Set(queries.map(({ variant }) => variant))];
    return {
      overall: measured(queries),
      variants: Object.fromEntries(
        variants.map((name) => [name, measured(queries.filter(({ variant }) => variant === name))]),
      ),
      ...(options.compare ? { compared: await compareRetrieval(corpus, queries) } : {}),
    };
  } finally {
    await rig.stop();
  }
}

async function index(retrieval: Retrieval, corpus: readonly BenchDocument[]): Promise<readonly Space[]> {
  const spaces = [...new Set(corpus.map(({ domain }) => domain))].map(
    (scope): Space => ({ kind: 'runbook', scope }),
  );
  for (const space of spaces)
    await retrieval.upsert(
      space,
      corpus
        .filter(({ domain }) => domain === space.scope)
        .map(({ id, title, text }) => ({ key: id, title, text })),
    );
  return spaces;
}
