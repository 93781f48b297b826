import type { Sql } from 'postgres';
import { until } from '../until.ts';
import { clientSession, countSessions, holding } from './client-session.ts';
import type { DatabaseFault } from './database-fault.ts';

/** A stock import locks its table and hangs; each request for stock takes one more connection, until none is left. */
export const connectionExhaustion: DatabaseFault = {
  id: 'connection_exhaustion',
  title: 'Connection exhaustion',
  description:
    'A stock import locks a table and hangs; requests pile up behind it until every connection slot is taken.',
  rule: {
    alertname: 'PostgresConnectionExhaustion',
    severity: 'critical',
    forMs: 1_000,
    summary: 'Connections are exhausted on shop-db',
    description:
      'More than 90 % of the connection slots are in use; new clients are refused ("sorry, too many clients already").',
    inhibitedBy: [],
  },
  cause({ appUrl, admin }) {
    const importer = clientSession(appUrl, 'shop-stock-import');
    const sessions = [importer];
    return holding(sessions, async () => {
      await importer.unsafe('BEGIN');
      await importer.unsafe('LOCK TABLE stock_levels IN ACCESS EXCLUSIVE MODE');
      for (let refused = false; !refused; ) {
        const session = clientSession(appUrl, 'shop-storefront');
        sessions.push(session);
        refused = await isRefused(session);
        if (!refused) askForStock(session);
      }
      const wanted = Math.max(1, sessions.length - 2);
      await until(
        'the requests to wait',
        async () => (await countSessions(admin, 'shop-storefront', 'waiting')) >= wanted,
      );
    });
  },
  undo: async () => undefined,
  async read(admin) {
    const [row] = await admin<{ used: number; usable: number }[]>`
      SELECT count(*)::int AS used,
             current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
               - current_setting('reserved_connections')::int AS usable
        FROM pg_stat_activity WHERE backend_type = 'client backend'`;
    const { used = 0, usable = 1 } = row ?? {};
    return { holds: used >= 0.9 * usable, says: `${used} of ${usable} connections are in use` };
  },
};

/** As a web server without a pool: one connection a request, closed when it is answered. */
function askForStock(session: Sql): void {
  void session
    .unsafe('SELECT sum(quantity) FROM stock_levels WHERE product_id = 7')
    .catch(() => undefined)
    .then(() => session.end({ timeout: 0 }));
}

/** True when the server has no slot left for an ordinary role. */
async function isRefused(session: Sql): Promise<boolean> {
  try {
    await session.unsafe('SELECT 1');
    return false;
  } catch (error) {
    if ((error as { code?: unknown }).code === '53300') return true;
    throw error;
  }
}
