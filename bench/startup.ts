import { join } from 'node:path';
import { startEmbeddedChroma } from '../src/infra/chroma/embedded-chroma.ts';
import { startEmbeddedPostgres } from '../src/infra/db/embedded/start-embedded-postgres.ts';
import { createLog } from '../src/infra/log/log.ts';
import { quantile, runProduct } from './running-product.ts';

const WARM_STARTS = 5;

export interface StartupResult {
  readonly bench: 'startup';
  /** First start on an empty data folder: both databases are made. */
  readonly firstMs: number;
  readonly warmMs: readonly number[];
  readonly warmP50Ms: number;
  /** PostgreSQL and Chroma alone on the same data, together: what no start can be faster than. */
  readonly baselineMs: number;
  /** warmP50Ms / baselineMs. */
  readonly ratio: number;
}

/** Time from starting the program to "Sentry is ready", installed and built. */
export async function benchStartup(dataDir: string): Promise<StartupResult> {
  const first = await runProduct(dataDir);
  await first.stop();
  const warm: number[] = [];
  for (let n = 0; n < WARM_STARTS; n += 1) {
    const product = await runProduct(dataDir);
    warm.push(Math.round(product.readyMs));
    await product.stop();
  }
  const baselineMs = await databasesAlone(dataDir);
  const warmP50Ms = quantile(warm, 0.5);
  return {
    bench: 'startup',
    firstMs: Math.round(first.readyMs),
    warmMs: warm,
    warmP50Ms,
    baselineMs,
    ratio: Math.round((warmP50Ms / baselineMs) * 100) / 100,
  };
}

async function databasesAlone(dataDir: string): Promise<number> {
  const log = createLog('error');
  const begun = performance.now();
  const [postgres, chroma] = await Promise.all([
    startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), name: 'sentry', log }),
    startEmbeddedChroma({ dataDir: join(dataDir, 'chroma'), log }),
  ]);
  const took = Math.round(performance.now() - begun);
  await Promise.all([postgres.stop(), chroma.stop()]);
  return took;
}
