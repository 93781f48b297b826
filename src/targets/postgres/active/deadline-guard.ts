import { serverVersion } from '../read/postgres-read-tool.ts';
import type { PostgresSession } from '../system.ts';
import { beforeDeadline } from './action-outcome.ts';

/**
 * For statements that cannot carry a condition (VACUUM, ALTER SYSTEM): checks guard and deadline in one statement and
 * makes the server end this session when the deadline passes before the next statement has arrived. So a process paused
 * between the two finds its connection gone instead of taking effect late. Before PostgreSQL 14 (no
 * idle_session_timeout) only the check remains.
 *
 * @param guardSql a condition with parameters $3 and following.
 * @returns whether the statement may be sent now; then `disarmDeadline` after it.
 */
export async function armDeadline(
  session: PostgresSession,
  clock: string,
  withinMs: number,
  guardSql: string,
  guardParams: readonly unknown[],
): Promise<boolean> {
  const hasTimeout = (await serverVersion(session)) >= 140_000;
  const left = `greatest(1, extract(epoch FROM $1::timestamptz + $2::float8 * interval '1 millisecond' - clock_timestamp()) * 1000)::int`;
  const rows = await session.query(
    `SELECT ${hasTimeout ? `set_config('idle_session_timeout', (${left})::text, false)` : '1'}
      WHERE ${beforeDeadline('$1', '$2')} AND ${guardSql}`,
    [clock, withinMs, ...guardParams],
  );
  return rows.length > 0;
}

export async function disarmDeadline(session: PostgresSession): Promise<void> {
  if ((await serverVersion(session)) >= 140_000) await session.query('RESET idle_session_timeout');
}
