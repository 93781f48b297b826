import { until } from '../until.ts';
import { clientSession, countSessions, holding } from './client-session.ts';
import type { DatabaseFault } from './database-fault.ts';

/** A newsletter job opens a transaction, writes a little, and then waits for something that never comes. */
export const idleInTransaction: DatabaseFault = {
  id: 'idle_in_transaction',
  title: 'Idle in transaction',
  description: 'A newsletter job opens a transaction, changes a customer, and then does nothing for ever.',
  rule: {
    alertname: 'PostgresIdleInTransaction',
    severity: 'warning',
    forMs: 2_000,
    summary: 'A session is idle in transaction on shop-db',
    description:
      'A session has been idle in an open transaction for more than 8 seconds; it holds locks and keeps vacuum from cleaning up.',
    inhibitedBy: [],
  },
  cause({ appUrl, admin }) {
    const session = clientSession(appUrl, 'shop-newsletter');
    return holding([session], async () => {
      await session.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await session.unsafe('UPDATE customers SET newsletter_sent_at = now() WHERE id = 1');
      await until(
        'the session to be idle',
        async () => (await countSessions(admin, 'shop-newsletter', 'idle in transaction')) > 0,
      );
    });
  },
  undo: async () => undefined,
  async read(admin) {
    // One that blocks others has an alert of its own.
    const [row] = await admin<{ n: number; longest: number }[]>`
      WITH blockers AS (
        SELECT unnest(pg_blocking_pids(pid)) AS pid FROM pg_stat_activity WHERE wait_event_type = 'Lock')
      SELECT count(*)::int AS n, coalesce(max(extract(epoch FROM clock_timestamp() - state_change)), 0)::int AS longest
        FROM pg_stat_activity
       WHERE state LIKE 'idle in transaction%' AND state_change < clock_timestamp() - interval '8 seconds'
         AND pid NOT IN (SELECT pid FROM blockers)`;
    return {
      holds: (row?.n ?? 0) > 0,
      says: `${row?.n ?? 0} sessions, the longest idle for ${row?.longest ?? 0} s`,
    };
  },
};
