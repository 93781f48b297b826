import type { ActionId } from '../domain/ids.ts';
import type { Sql } from '../domain/sql.ts';
import type { WatchReading } from './judge-recovery.ts';

/** All looks at an action's criterion since it ran, oldest first, by the database's clock. */
export async function watchReadings(sql: Sql, actionId: ActionId): Promise<readonly WatchReading[]> {
  const rows = await sql`
    SELECT state, holds, readings, (extract(epoch FROM at) * 1000)::float8 AS at_ms FROM criterion_reading
     WHERE action_id = ${actionId} AND phase = 'watch' ORDER BY id`;
  return rows.map((row) => ({
    state: row['state'] as WatchReading['state'],
    holds: row['holds'] as boolean | null,
    values: row['readings'] as readonly (number | null)[],
    at: Number(row['at_ms']),
  }));
}
