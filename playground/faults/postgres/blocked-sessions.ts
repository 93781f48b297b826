import { until } from '../until.ts';
import { clientSession, countSessions, holding, leaveRunning } from './client-session.ts';
import type { DatabaseFault } from './database-fault.ts';

const waiters = 4;

/** The back office changes the price of product 1 and forgets to commit; checkouts of that product queue up behind it. */
export const blockedSessions: DatabaseFault = {
  id: 'blocked_sessions',
  title: 'Blocked sessions',
  description:
    'A back-office session changes a product and forgets to commit; checkouts of that product wait for its lock.',
  rule: {
    alertname: 'PostgresBlockedSessions',
    severity: 'critical',
    forMs: 2_000,
    summary: 'Sessions are blocked by a lock on shop-db',
    description: 'Sessions have been waiting for a lock for more than 3 seconds; checkouts hang.',
    inhibitedBy: ['connection_exhaustion'],
  },
  cause({ appUrl, admin }) {
    const holder = clientSession(appUrl, 'shop-backoffice');
    const queue = Array.from({ length: waiters }, () => clientSession(appUrl, 'shop-checkout'));
    return holding([...queue, holder], async () => {
      await holder.unsafe('BEGIN');
      await holder.unsafe('UPDATE products SET price_cents = price_cents + 10 WHERE id = 1');
      for (const session of queue)
        leaveRunning(session, 'UPDATE products SET stock = stock - 1 WHERE id = 1 AND stock > 0');
      await until(
        'the checkouts to wait',
        async () => (await countSessions(admin, 'shop-checkout', 'waiting')) >= waiters,
      );
    });
  },
  undo: async () => undefined,
  async read(admin) {
    const [row] = await admin<{ n: number; longest: number }[]>`
      SELECT count(*)::int AS n, coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0)::int AS longest
        FROM pg_stat_activity
       WHERE wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '3 seconds'`;
    return {
      holds: (row?.n ?? 0) > 0,
      says: `${row?.n ?? 0} sessions wait, the longest for ${row?.longest ?? 0} s`,
    };
  },
};
