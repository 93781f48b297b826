import { encodeForward, readForward } from '../src/search/index/forward.ts';
import { termHash } from '../src/search/index/term-hash.ts';
import { type WeighedTerm, weighEntry } from '../src/search/index/weigh-entry.ts';
import { findNearest } from '../src/search/meaning/nearest.ts';
import { createPatience } from '../src/search/meaning/patience.ts';
import { inverseFrequency, telling } from '../src/search/query/rarity.ts';
import { PARTS, scoreEntry } from '../src/search/query/score-entry.ts';
import { type QueryTerm, weighQuery } from '../src/search/query/weigh-query.ts';
import { type Space, spaceName } from '../src/search/types.ts';
import type { BenchDocument, BenchQuery } from './retrieval-data.ts';
import { type Quality, qualityOf, rounded } from './retrieval-measures.ts';
import type { RetrievalRig } from './retrieval-rig.ts';

type Ranked = readonly (readonly [id: string, score: number])[];
type Parts = Readonly<Record<keyof typeof PARTS, number>>;

/**
 * Baselines, and the product's ranking with one part left out at a time, all on the same corpus. The ablations score
 * every document in memory with the product's functions, so that nothing but the part differs.
 */
export async function compareRetrieval(
  rig: RetrievalRig,
  corpus: readonly BenchDocument[],
  queries: readonly BenchQuery[],
  spaces: readonly Space[],
): Promise<Readonly<Record<string, Quality>>> {
  await rig.sql`
    CREATE TABLE bench_words AS
      SELECT key, to_tsvector('english', title || ' ' || body) AS words FROM search_entry`;
  const near = await nearness(rig, queries, spaces);
  const meant = (query: BenchQuery, { id, domain }: BenchDocument) => near.get(query.qid)?.(domain, id) ?? 0;
  const all = weighAll(corpus);
  const rank = (keep: (kind: QueryTerm['kind']) => boolean, parts: Parts) => ranking(all, keep, parts, meant);
  const rows: readonly (readonly [string, (query: BenchQuery) => Ranked | Promise<Ranked>])[] = [
    ['baseline: OR of terms, ts_rank_cd', (query) => orOfTerms(rig, query)],
    ['baseline: plain BM25', plainBm25(corpus)],
    [
      'baseline: meaning only',
      (query) => corpus.map((document) => [document.id, meant(query, document)] as const),
    ],
    ['all parts', rank(() => true, PARTS)],
    ['without meaning', rank(() => true, { ...PARTS, meaning: 0 })],
    ['without the title', rank(() => true, { ...PARTS, title: 0 })],
    ['without text and headings', rank(() => true, { ...PARTS, body: 0 })],
    ['without pairs', rank((kind) => kind !== 'pair', PARTS)],
    ['without concepts', rank((kind) => kind !== 'concept', PARTS)],
    ['without whole identifiers', rank((kind) => kind !== 'whole', PARTS)],
    ['words only', rank((kind) => kind === 'word', { ...PARTS, meaning: 0 })],
  ];
  const compared: Record<string, Quality> = {};
  for (const [name, ranked] of rows) {
    const answers = new Map<string, readonly string[]>();
    for (const query of queries) answers.set(query.qid, bestTen(await ranked(query)));
    compared[name] = rounded(qualityOf(queries, answers));
  }
  return compared;
}

interface Weighed {
  readonly document: BenchDocument;
  readonly forward: ReturnType<typeof readForward>;
  readonly terms: readonly WeighedTerm[];
}

function weighAll(corpus: readonly BenchDocument[]): readonly Weighed[] {
  return corpus.map((document) => {
    const terms = weighEntry(document.title, document.text);
    return { document, terms, forward: readForward(encodeForward(terms)) };
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

/** Of each query to each document, as the search sees it: the nearest of 60 chunks, or no nearer than the last. */
async function nearness(rig: RetrievalRig, queries: readonly BenchQuery[], spaces: readonly Space[]) {
  const found = new Map<string, (scope: string, key: string) => number>();
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const patience = createPatience();
  for (const { qid, text } of queries) {
    const { bySpace } = await findNearest({ ...rig, log, patience }, text, spaces, 30_000);
    found.set(qid, (scope, key) => {
      const near = bySpace.get(spaceName({ kind: 'runbook', scope }));
      return near?.near.get(key) ?? near?.others ?? 0;
    });
  }
  return found;
}

/** BM25 (k1 1.2, b 0.75) over lower-case words of title and text. */
function plainBm25(corpus: readonly BenchDocument[]): (query: BenchQuery) => Ranked {
  const wordsOf = (text: string) => text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
  const documents = corpus.map(({ id, title, text }) => {
    const words = wordsOf(`${title} ${text}`);
    const times = new Map<string, number>();
    for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
    return { id, times, length: words.length };
  });
  const usual = documents.reduce((total, { length }) => total + length, 0) / documents.length;
  const having = new Map<string, number>();
  for (const { times } of documents)
    for (const word of times.keys()) having.set(word, (having.get(word) ?? 0) + 1);
  return ({ text }) => {
    const asked = [...new Set(wordsOf(text))];
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

async function orOfTerms({ sql }: RetrievalRig, { text }: BenchQuery): Promise<Ranked> {
  const rows = await sql<{ key: string; score: number }>`
    WITH asked AS (
      SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS query
        FROM unnest(to_tsvector('english', ${text})))
    SELECT key, ts_rank_cd(words, asked.query) AS score FROM bench_words, asked WHERE words @@ asked.query
     ORDER BY score DESC LIMIT 10`;
  return rows.map(({ key, score }) => [key, score]);
}

function bestTen(ranked: Ranked): readonly string[] {
  return ranked
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 10)
    .map(([id]) => id);
}
