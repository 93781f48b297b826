import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { withConnection } from './with-connection.ts';

/** Between two statements ours take milliseconds; on a starved machine, seconds. */
const AFTER_MS = 30_000;

/**
 * Has PostgreSQL end a transaction of ours whose process says nothing more: one that stands still (a paused machine, a
 * SIGSTOP) keeps its connection, and with it the locks that every other process of Sentry waits for. Set for our role in
 * our database, not by each connection, as a session pooler refuses settings at the start; left alone where an operator
 * has set a limit.
 */
export async function endAbandonedTransactions(url: string, log: Log, afterMs = AFTER_MS): Promise<void> {
  await withConnection(url, async (sql) => {
    const [now] = await sql`
      SELECT current_setting('idle_in_transaction_session_timeout') AS is,
             format('ALTER ROLE %I IN DATABASE %I SET idle_in_transaction_session_timeout = %L',
                    session_user, current_database(), ${String(afterMs)}::text) AS to_set`;
    if (now?.['is'] === '0') await sql.unsafe(String(now['to_set']));
  }).catch((error: unknown) =>
    log.warn(
      { error: messageOf(error) },
      'transactions of a process that stands still are not ended: set idle_in_transaction_session_timeout of the record',
    ),
  );
}
