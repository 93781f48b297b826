import type { BenchQuery } from './retrieval-data.ts';

export interface Quality {
  readonly ndcg10: number;
  /** Of the first ten. */
  readonly mrr: number;
  readonly hit5: number;
}

/** Binary relevance; the mean over the queries. */
export function qualityOf(
  queries: readonly BenchQuery[],
  answers: ReadonlyMap<string, readonly string[]>,
): Quality {
  const each = queries.map(({ qid, relevant }) => ofOne((answers.get(qid) ?? []).slice(0, 10), relevant));
  return {
    ndcg10: mean(each.map(({ ndcg10 }) => ndcg10)),
    mrr: mean(each.map(({ mrr }) => mrr)),
    hit5: mean(each.map(({ hit5 }) => hit5)),
  };
}

function ofOne(ranked: readonly string[], relevant: readonly string[]): Quality {
  const wanted = new Set(relevant);
  const gains = ranked.map((id, i) => (wanted.has(id) ? 1 / Math.log2(i + 2) : 0));
  const best = Array.from({ length: Math.min(10, wanted.size) }, (_, i) => 1 / Math.log2(i + 2));
  const first = ranked.findIndex((id) => wanted.has(id));
  return {
    ndcg10: sum(gains) / sum(best),
    mrr: first === -1 ? 0 : 1 / (first + 1),
    hit5: first >= 0 && first < 5 ? 1 : 0,
  };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function rounded<T extends object>(values: T): T {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value,
    ]),
  ) as T;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
