import type { DatabaseFault } from './database-fault.ts';

/** Autovacuum is switched off for a table that is rewritten all the time ("it was in the way of the import"). */
export const tableBloat: DatabaseFault = {
  id: 'table_bloat',
  title: 'Table bloat',
  description:
    'Autovacuum is switched off for the cart events, and every row is updated three times: most of the table is dead rows.',
  rule: {
    alertname: 'PostgresTableBloat',
    severity: 'warning',
    forMs: 1_000,
    summary: 'A table of shop-db is bloated with dead rows',
    description: 'More than 40 % of the rows of a table are dead; autovacuum is not keeping up.',
    inhibitedBy: [],
  },
  async cause({ admin }) {
    await admin`ALTER TABLE cart_events SET (autovacuum_enabled = false)`;
    for (let round = 0; round < 3; round += 1) await admin`UPDATE cart_events SET seen = seen + 1`;
    await admin`SELECT pg_stat_force_next_flush()`;
    // It stands in the table, not in a session: a restart keeps it.
    return { release: async () => undefined };
  },
  async undo({ admin }) {
    await admin`ALTER TABLE cart_events RESET (autovacuum_enabled)`;
    await admin`VACUUM (ANALYZE) cart_events`;
  },
  async read(admin) {
    const [row] = await admin<{ table: string; dead: number; share: number }[]>`
      SELECT relname AS table, n_dead_tup::int AS dead, (100.0 * n_dead_tup / (n_live_tup + n_dead_tup))::int AS share
        FROM pg_stat_user_tables WHERE n_dead_tup > 10000 AND n_dead_tup > 0.4 * (n_live_tup + n_dead_tup)
       ORDER BY n_dead_tup DESC LIMIT 1`;
    if (row === undefined) return { holds: false, says: 'no table has many dead rows' };
    return { holds: true, says: `${row.table} has ${row.dead} dead rows, ${row.share} % of all` };
  },
};
