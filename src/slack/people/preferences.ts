import type { Sql } from '../../core/sql.ts';

/** What people want to be told alone. Whoever has said nothing is told nothing. */
export async function isToldOfApprovals(sql: Sql, userId: string): Promise<boolean> {
  const [row] = await sql<{ readonly told: boolean }>`
    SELECT dm_approvals AS told FROM person_preference WHERE user_id = ${userId}`;
  return row?.told ?? false;
}

export async function tellOfApprovals(sql: Sql, userId: string, told: boolean): Promise<void> {
  await sql`
    INSERT INTO person_preference (user_id, dm_approvals) VALUES (${userId}, ${told})
    ON CONFLICT (user_id) DO UPDATE SET dm_approvals = EXCLUDED.dm_approvals, set_at = clock_timestamp()`;
}
