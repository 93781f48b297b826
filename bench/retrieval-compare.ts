import { loadConfig } from '../src/config/config.ts';
import { openEmbedder } from '../src/infra/embeddings/open-embedder.ts';
import { createLog } from '../src/infra/log/log.ts';
import { cosineDistance } from '../src/search/distance/measure-cuts.ts';
import { computeTermWeights, type WeighedTerm } from '../src/search/index/compute-term-weights.ts';
import {
  encodeForwardIndex,
  type ForwardIndex,
  readForwardIndex,
} from '../src/search/index/forward-index.ts';
import { termHash } from '../src/search/index/term-hash.ts';
import { chunksOf } from '../src/search/meaning/chunks.ts';
import { embeddedPart } from '../src/search/meaning/nearest.ts';
import { inverseFrequency, telling } from '../src/search/query/rarity.ts';
import { PARTS, scoreEntry } from '../src/search/query/score-entry.ts';
import { type QueryTerm, weighQuery } from '../src/search/query/weigh-query.ts';
import type { BenchDocument, BenchQuery } from './retrieval-data.ts';
import { type Quality, qualityOf, rounded } from './retrieval-measures.ts';

type Ranked = readonly (readonly [id: string, score: number])[];
type Parts = Readonly<Record<keyof typeof PARTS, number>>;

/**
 * Baselines, and the product's ranking with one part left out at a time, all on the same corpus. The ablations score
 * every document in memory with the product's functions, so that nothing but the part differs.
 */
export async function compareRetrieval(
  corpus: readonly BenchDocument[],
  queries: readonly BenchQuery[],
): Promise<Readonly<Record<string, Quality>>> {
  const meant = await nearness(corpus, queries);
  const all = weighAll(corpus);
  const rank = (keep: (kind: QueryTerm['kind']) => boolean, parts: Parts) => ranking(all, keep, parts, meant);
  const words = { ...PARTS, meaning: 0 };
  const rows: readonly (readonly [string, (query: BenchQuery) => Ranked])[] = [
    ['baseline: plain BM25', plainBm25(corpus)],
    [
      'baseline: meaning only',
      (query) => corpus.map((document) => [document.id, meant(query, document)] as const),
    ],
    ['all parts', rank(() => true, words)],
    ['with meaning', rank(() => true, PARTS)],
    ['without the title', rank(() => true, { ...words, title: 0 })],
    ['without text and headings', rank(() => true, { ...words, body: 0 })],
    ['without pairs', rank((kind) => kind !== 'pair', words)],
    ['without concepts', rank((kind) => kind !== 'concept', words)],
    ['without whole identifiers', rank((kind) => kind !== 'whole', words)],
    ['words only', rank((kind) => kind === 'word', words)],
  ];
  const compared: Record<string, Quality> = {};
  for (const [name, ranked] of rows) {
    const answers = new Map(queries.map((query) => [query.qid, bestTen(ranked(query))]));
    compared[name] = rounded(qualityOf(queries, answers));
  }
  return compared;
}

interface Weighed {
  readonly document: BenchDocument;
  readonly forward: ForwardIndex;
  readonly terms: readonly WeighedTerm[];
}

function weighAll(corpus: readonly BenchDocument[]): readonly Weighed[] {
  return corpus.map((document) => {
    const terms = computeTermWeights(document.title, document.text);
    return { document, terms, forward: readForwardIndex(encodeForwardIndex(terms)) };
  });
}

function ranking(
  all: readonly Weighed[],
  keep: (kind: QueryTerm['kind']) => boolean,
  parts: Parts,
  meant: (query: BenchQuery, document: BenchDocument) => number,
): (query: BenchQuery) => Ranked {
  const having = new Map<number, number>();
  for (const { terms } of all)
    for (const { term, posted } of terms)
      if (posted) having.set(termHash(term), (having.get(termHash(term)) ?? 0) + 1);
  const count = (hash: number) => having.get(hash) ?? 0;
  const rarity = (hash: number) => inverseFrequency(all.length, count(hash) || 1);
  return (query) => {
    const asked = weighQuery(query.text).filter(({ kind }) => keep(kind));
    const terms = telling(asked, all.length, count);
    return all.map(
      ({ document, forward }) =>
        [document.id, scoreEntry(forward, terms, rarity, meant(query, document), parts).score] as const,
    );
  };
}

/** Of each query to each document by the configured embedding: that of its nearest chunk. */
async function nearness(corpus: readonly BenchDocument[], queries: readonly BenchQuery[]) {
  const embedder = openEmbedder(loadConfig().memory.embedding, createLog('error'));
  try {
    process.stderr.write(`embedding ${corpus.length} documents\n`);
    const chunks = new Map<string, readonly (readonly number[])[]>();
    for (const { id, title, text } of corpus) chunks.set(id, await embedder.embed(chunksOf(title, text)));
    const asked = await embedder.embed(queries.map(({ text }) => embeddedPart(text)));
    const vectorOf = new Map(queries.map(({ qid }, i) => [qid, asked[i] ?? []]));
    return ({ qid }: BenchQuery, { id }: BenchDocument): number =>
      Math.max(
        0,
        ...(chunks.get(id) ?? []).map((chunk) => 1 - cosineDistance(vectorOf.get(qid) ?? [], chunk)),
      );
  } finally {
    await embedder.close();
  }
}

/** BM25 (k1 1.2, b 0.75) over lower-case words of title and text. */
function plainBm25(corpus: readonly BenchDocument[]): (query: BenchQuery) => Ranked {
  const tokenize = (text: string) => text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
  const documents = corpus.map(({ id, title, text }) => {
    const words = tokenize(`${title} ${text}`);
    const times = new Map<string, number>();
    for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
    return { id, times, length: words.length };
  });
  const usual = documents.reduce((total, { length }) => total + length, 0) / documents.length;
  const having = new Map<string, number>();
  for (const { times } of documents)
    for (const word of times.keys()) having.set(word, (having.get(word) ?? 0) + 1);
  return ({ text }) => {
    const asked = [...new Set(tokenize(text))];
    return documents.map(({ id, times, length }) => {
      const score = asked.reduce((sum, word) => {
        const n = times.get(word) ?? 0;
        const saturated = (n * 2.2) / (n + 1.2 * (0.25 + (0.75 * length) / usual));
        return sum + inverseFrequency(documents.length, having.get(word) ?? 0) * saturated;
      }, 0);
      return [id, score] as const;
    });
  };
}

function bestTen(ranked: Ranked): readonly string[] {
  return ranked
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 10)
    .map(([id]) => id);
}
