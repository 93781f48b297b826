import { z } from 'zod';
import { measureAt } from '../../../core/measure.ts';
import { bytes, percent, table } from '../../format.ts';
import type { PostgresSession } from '../system.ts';
import { output, postgresReadTool, rowsAsJson } from './postgres-read-tool.ts';

/**
 * Buffer cache. Data: `{ hit_percent, recent_hit_percent, recent_reads, recent_hits, sample_seconds, transactions_per_second,
 * blocks_hit, blocks_read, shared_buffers_bytes, stats_reset, tables: [{ schema, table, heap_read, heap_hit, hit_percent }] }`, of the connected
 * database. `hit_percent` is since `stats_reset`; `recent_…` over the sample, null when no block was asked for. A read may
 * still come from the operating system's cache.
 */
export const postgresCacheHit = postgresReadTool({
  name: 'postgres_cache_hit',
  description:
    'Buffer cache hit ratio in percent, over all time and over a sample of some seconds taken now, and the tables with most block reads. For a cache hit collapse or sudden disk reads.',
  measures: [
    measureAt('recent_hit_percent', {
      name: 'recent_cache_hits',
      label: 'blocks found in the cache just now',
      well: '{bound} of the blocks are found in the cache',
      unit: '%',
      healthy: 'at_least',
      bound: 90,
      intermittent: true,
    }),
  ],
  input: z.strictObject({ sample_seconds: z.number().min(0).max(10).default(2) }),
  timeoutMs: 20_000,
  counters: ['blocks_hit', 'blocks_read', 'tables.*.heap_read', 'tables.*.heap_hit'],
  async read(session, { sample_seconds }) {
    const before = await counters(session);
    await session.query('SELECT pg_sleep($1::float8)', [sample_seconds]);
    const after = await counters(session);
    const tables = rowsAsJson(
      await session.query(`
        SELECT schemaname::text AS schema, relname::text AS "table", heap_blks_read AS heap_read, heap_blks_hit AS heap_hit,
               CASE WHEN heap_blks_hit + heap_blks_read > 0 THEN round(100.0 * heap_blks_hit / (heap_blks_hit + heap_blks_read), 1) END AS hit_percent
          FROM pg_statio_user_tables WHERE heap_blks_read > 0 ORDER BY heap_blks_read DESC LIMIT 10`),
    );
    const [hits, reads] = [after.hit - before.hit, after.read - before.read];
    const data = {
      hit_percent: ratio(after.hit, after.read),
      recent_hit_percent: ratio(hits, reads),
      recent_reads: reads,
      recent_hits: hits,
      sample_seconds,
      transactions_per_second: rateOf(after.transactions - before.transactions, sample_seconds),
      blocks_hit: after.hit,
      blocks_read: after.read,
      shared_buffers_bytes: after.shared,
      stats_reset: after.reset,
      tables,
    };
    return output(
      [
        `Cache hit ratio ${percent(data.hit_percent)} since ${after.reset ?? 'the server began counting'}; in the last ${sample_seconds}s ${data.recent_hit_percent === null ? 'no block was asked for' : `${percent(data.recent_hit_percent)} (${reads} reads, ${hits} hits)`}. shared_buffers ${bytes(after.shared)}.`,
        ...table(
          ['table', 'blocks read', 'blocks hit', 'hit'],
          tables.map((row) => [
            `${row['schema']}.${row['table']}`,
            row['heap_read'],
            row['heap_hit'],
            percent(row['hit_percent']),
          ]),
        ),
      ],
      data,
    );
  },
});

interface Counters {
  readonly hit: number;
  readonly read: number;
  readonly transactions: number;
  readonly reset: string | null;
  readonly shared: number;
}

async function counters(session: PostgresSession): Promise<Counters> {
  const [row] = await session.query(`
    SELECT blks_hit AS hit, blks_read AS read, xact_commit + xact_rollback AS transactions, stats_reset::text AS reset,
           (SELECT setting::bigint * current_setting('block_size')::int FROM pg_settings WHERE name = 'shared_buffers') AS shared
      FROM pg_stat_database WHERE datname = current_database()`);
  return {
    hit: Number(row?.['hit']),
    read: Number(row?.['read']),
    transactions: Number(row?.['transactions']),
    reset: (row?.['reset'] ?? null) as string | null,
    shared: Number(row?.['shared']),
  };
}

/** Null: nobody watched, or the statistics were reset meanwhile. */
function rateOf(counted: number, seconds: number): number | null {
  return seconds > 0 && counted >= 0 ? Math.round((10 * counted) / seconds) / 10 : null;
}

function ratio(hits: number, reads: number): number | null {
  return hits + reads > 0 ? Math.round((1_000 * hits) / (hits + reads)) / 10 : null;
}
