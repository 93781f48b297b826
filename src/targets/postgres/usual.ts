import { z } from 'zod';
import { numberAt } from '../../core/measure.ts';
import type { Json } from '../../core/tool-call.ts';
import type { UsualRead } from '../kind.ts';
import { isPartial, postgresActivity } from './read/activity.ts';
import { postgresCacheHit } from './read/cache-hit.ts';
import { postgresConnections } from './read/connections.ts';
import { output, postgresReadTool } from './read/postgres-read-tool.ts';

const BYTES_PER_MB = 1_000_000;

/** Data: `{ database_mb, dead_rows }` of the connected database; the rows are PostgreSQL's estimate. No table is read. */
const databaseTotals = postgresReadTool({
  name: 'postgres_totals',
  description: 'The size and the dead rows of the connected database.',
  input: z.strictObject({}),
  timeoutMs: 15_000,
  async read(session) {
    const [row] = await session.query(`
      SELECT pg_database_size(current_database()) AS bytes, (SELECT sum(n_dead_tup) FROM pg_stat_user_tables)::float8 AS dead`);
    const data = {
      database_mb: Number(row?.['bytes']) / BYTES_PER_MB,
      dead_rows: Number(row?.['dead'] ?? 0),
    };
    return output([`${Math.round(data.database_mb)} MB, ${data.dead_rows} dead rows`], data);
  },
});

/** What is hidden or cut off is not counted, which is no zero. */
const ofAllSessions =
  (key: string) =>
  (data: Json): number | null =>
    isPartial(data) ? null : numberAt(data, key);

/** A share of fewer is chance. */
const LEAST_BLOCKS = 1_000;
const blocksIn = (data: Json): number =>
  (numberAt(data, 'recent_hits') ?? 0) + (numberAt(data, 'recent_reads') ?? 0);

/** What a database is like on an ordinary day. */
export const postgresUsual: readonly UsualRead[] = [
  {
    tool: postgresConnections,
    input: {},
    numbers: [
      {
        name: 'connections',
        label: 'connections',
        unit: 'connections',
        least: 5,
        value: (data) => numberAt(data, 'used'),
      },
    ],
  },
  {
    tool: postgresActivity,
    input: {},
    numbers: [
      {
        name: 'longest_transaction',
        label: 'longest transaction',
        unit: 's',
        least: 60,
        onlyHigher: true,
        value: ofAllSessions('longest_transaction_seconds'),
      },
      {
        name: 'waiting_sessions',
        label: 'sessions waiting for a lock',
        unit: 'sessions',
        least: 2,
        onlyHigher: true,
        value: ofAllSessions('waiting_on_lock'),
      },
    ],
  },
  {
    tool: postgresCacheHit,
    input: { sample_seconds: 1 },
    numbers: [
      {
        name: 'transactions',
        label: 'transactions per second',
        unit: 'transactions',
        least: 10,
        value: (data) => numberAt(data, 'transactions_per_second'),
      },
      {
        name: 'cache_hits',
        label: 'blocks found in the cache',
        unit: '%',
        least: 5,
        value: (data) => (blocksIn(data) < LEAST_BLOCKS ? null : numberAt(data, 'recent_hit_percent')),
      },
    ],
  },
  {
    tool: databaseTotals,
    input: {},
    numbers: [
      {
        name: 'database_size',
        label: 'database size',
        unit: 'MB',
        least: 100,
        value: (data) => numberAt(data, 'database_mb'),
      },
      {
        name: 'dead_rows',
        label: 'dead rows',
        unit: '',
        least: 10_000,
        onlyHigher: true,
        value: (data) => numberAt(data, 'dead_rows'),
      },
    ],
  },
];
