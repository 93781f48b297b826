import type { Sql } from '../core/sql.ts';

const BATCH = 10_000;

/** Deletes changes that took effect so many days ago: none is of use longer than the incidents around it. */
export async function deleteOldChanges(sql: Sql, days: number, signal: AbortSignal): Promise<void> {
  await deletePushedCommits(sql, days, signal);
  while (!signal.aborted) {
    const rows = await sql`
      DELETE FROM change WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM change WHERE at < statement_timestamp() - ${days} * interval '1 day'
         ORDER BY at LIMIT ${BATCH})) RETURNING id`;
    if (rows.length < BATCH) return;
  }
}

async function deletePushedCommits(sql: Sql, days: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const rows = await sql`
      DELETE FROM pushed_commit WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM pushed_commit WHERE at < statement_timestamp() - ${days} * interval '1 day'
         ORDER BY at LIMIT ${BATCH})) RETURNING sha`;
    if (rows.length < BATCH) return;
  }
}
