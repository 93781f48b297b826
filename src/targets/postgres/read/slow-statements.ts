import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { oneLine, table } from '../../format.ts';
import { output, postgresReadTool, rowsAsJson } from './postgres-read-tool.ts';
import { howToEnableStatistics, statementStatistics } from './statement-statistics.ts';

const orders = {
  total: 's.total_exec_time',
  mean: 's.mean_exec_time',
  max: 's.max_exec_time',
  calls: 's.calls',
  reads: 's.shared_blks_read',
  temp: 's.temp_blks_written',
} as const;

/**
 * Statements by cost, from pg_stat_statements, of the connected database. Data: `{ available, order_by,
 * statements: [{ queryid, user, calls, total_ms, mean_ms, max_ms, rows, total_percent, blocks_read, blocks_hit,
 * temp_blocks_written, query }] }`. `queryid` is text (it exceeds what a number holds); parameters are `$1 …`; what Sentry's own
 * role ran is left out.
 */
export const postgresSlowStatements = postgresReadTool({
  name: 'postgres_slow_statements',
  description:
    'The most expensive statements from pg_stat_statements (queryid, calls, total/mean/max ms, rows, blocks read), ordered by total, mean, max, calls, reads or temp; says how to enable it where it is missing.',
  input: z.strictObject({
    order_by: z.enum(['total', 'mean', 'max', 'calls', 'reads', 'temp']).default('total'),
    limit: z.number().int().min(1).max(50).default(10),
  }),
  counters: ['calls', 'total_ms', 'rows', 'blocks_read', 'blocks_hit', 'temp_blocks_written'].map(
    (name) => `statements.*.${name}`,
  ),
  async read(session, { order_by, limit }) {
    const view = await statementStatistics(session);
    if (view === null) return output([howToEnableStatistics], { available: false, order_by, statements: [] });
    const rows = rowsAsJson(
      await session.query(
        `SELECT s.queryid::text AS queryid, r.rolname::text AS "user", s.calls, round(s.total_exec_time::numeric, 1) AS total_ms,
                round(s.mean_exec_time::numeric, 2) AS mean_ms, round(s.max_exec_time::numeric, 1) AS max_ms, s.rows,
                round((100 * s.total_exec_time / nullif(sum(s.total_exec_time) OVER (), 0))::numeric, 1) AS total_percent,
                s.shared_blks_read AS blocks_read, s.shared_blks_hit AS blocks_hit, s.temp_blks_written AS temp_blocks_written,
                left(s.query, 2000) AS query
           FROM ${view} s LEFT JOIN pg_roles r ON r.oid = s.userid
          WHERE s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND s.queryid IS NOT NULL
            AND NOT EXISTS (SELECT FROM pg_roles own WHERE own.oid = s.userid AND own.rolname = current_user AND NOT own.rolsuper)
          ORDER BY ${orders[order_by]} DESC LIMIT $1::int`,
        [limit],
      ),
    );
    const statements = rows.map(
      (row) =>
        ({ ...row, query: oneLine(row['query']) }) as { readonly [key: string]: string | number | null },
    );
    return output(
      [
        `${count(statements.length, 'statement')} by ${order_by}; times in ms since the statistics were reset.`,
        ...table(
          ['queryid', 'calls', 'total', 'share', 'mean', 'max', 'rows', 'blocks read', 'user', 'query'],
          statements.map((row) => [
            row['queryid'],
            row['calls'],
            row['total_ms'],
            `${row['total_percent'] ?? 0}%`,
            row['mean_ms'],
            row['max_ms'],
            row['rows'],
            row['blocks_read'],
            row['user'],
            oneLine(row['query'], 120),
          ]),
        ),
      ],
      { available: true, order_by, statements },
    );
  },
});
