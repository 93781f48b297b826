import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../src/infra/db/client.ts';
import { writeEntries } from '../src/search/index/write-entries.ts';
import type { BenchDocument } from './retrieval-data.ts';
import { mixDocuments } from './retrieval-mix.ts';

/** What the parent sends first; after that, anything ends the process, which answers with what it wrote a second. */
export interface WriterOrder {
  readonly databaseUrl: string;
  readonly corpus: readonly BenchDocument[];
  readonly documents: number;
  readonly writer: number;
}

/** Pause between writes, ms: some ten a second, far more than incidents and people make. */
const PAUSE_MS = 100;

process.once('message', (order: WriterOrder) => void write(order));

async function write({ databaseUrl, corpus, documents, writer }: WriterOrder): Promise<void> {
  const { sql, close } = openDatabase(databaseUrl, { max: 1, name: 'bench-writer' });
  let stopped = false;
  process.once('message', () => {
    stopped = true;
  });
  process.send?.('ready');
  const started = performance.now();
  let written = 0;
  while (!stopped) {
    const seed = 1_000_000 * (writer + 1) + written;
    const [mixed] = mixDocuments(corpus, 1, seed);
    // Every other one replaces a document that is there.
    const key = written % 2 === 0 ? `mixed-${(seed * 7_919) % documents}` : (mixed?.id ?? '');
    await writeEntries(sql, { kind: 'runbook', scope: 'kubernetes' }, [
      { key, title: mixed?.title ?? '', text: mixed?.text ?? '' },
    ]);
    written += 1;
    await sleep(PAUSE_MS);
  }
  process.send?.(written / ((performance.now() - started) / 1000));
  await close();
  process.disconnect();
}
