import { until } from '../until.ts';
import { clientSession, countSessions, holding, leaveRunning } from './client-session.ts';
import type { DatabaseFault } from './database-fault.ts';

/** Three tables joined without a condition: 10^12 combinations. */
const report = `SELECT a.customer_id, count(*) AS similar_orders
  FROM orders a, orders b, order_items c
 WHERE a.total_cents < b.total_cents + c.quantity
 GROUP BY a.customer_id ORDER BY similar_orders DESC`;

export const runawayQuery: DatabaseFault = {
  id: 'runaway_query',
  title: 'Runaway query',
  description:
    'A report joins three tables without a join condition and would run for days; it takes a whole CPU.',
  rule: {
    alertname: 'PostgresLongRunningQuery',
    severity: 'warning',
    forMs: 1_000,
    summary: 'A query has been running for very long on shop-db',
    description: 'A query has been running for more than 8 seconds; usually they take milliseconds.',
    inhibitedBy: [],
  },
  cause({ appUrl, admin }) {
    const session = clientSession(appUrl, 'shop-reports');
    return holding([session], async () => {
      await session.unsafe('SET max_parallel_workers_per_gather = 0');
      leaveRunning(session, report);
      await until(
        'the report to run',
        async () => (await countSessions(admin, 'shop-reports', 'active')) > 0,
      );
    });
  },
  // A client that is gone is noticed within client_connection_check_interval only; nobody should have to wait for that.
  async undo({ admin }) {
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shop-reports'`;
  },
  async read(admin) {
    const [row] = await admin<{ n: number; longest: number }[]>`
      SELECT count(*)::int AS n, coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0)::int AS longest
        FROM pg_stat_activity
       WHERE state = 'active' AND backend_type = 'client backend' AND wait_event_type IS DISTINCT FROM 'Lock'
         AND usename = 'shop_app' AND query_start < clock_timestamp() - interval '8 seconds'`;
    return {
      holds: (row?.n ?? 0) > 0,
      says: `${row?.n ?? 0} queries, the longest for ${row?.longest ?? 0} s`,
    };
  },
};
