import { parseArgs } from 'node:util';
import type { RetrievalOptions } from './retrieval.ts';

/** As `sentry bench retrieval` passes them on. */
export function retrievalOptions(args: readonly string[]): RetrievalOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      corpus: { type: 'string' },
      queries: { type: 'string' },
      compare: { type: 'boolean', default: false },
      documents: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { corpus, queries, compare, documents } = values;
  if (corpus === undefined || queries === undefined) throw new Error('--corpus and --queries are needed');
  return {
    corpus,
    queries,
    compare,
    ...(documents === undefined ? {} : { documents: Number(documents) }),
  };
}
