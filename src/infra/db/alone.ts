import { setTimeout as sleep } from 'node:timers/promises';
import { OpsError } from '../../core/errors.ts';
import { openDatabase } from './client.ts';

const ASK_EVERY_MS = 50;
/** Longer than the longest migration should take. */
const WAIT_MS = 10 * 60_000;

/**
 * Runs `work` while no other process prepares this database. Migrations, the engine's own, functions and rights touch the
 * same rows of PostgreSQL's catalogs, and two at once fail with "tuple concurrently updated".
 */
export async function alone<T>(url: string, work: () => Promise<T>): Promise<T> {
  // One connection, so that the session's lock is taken and given back on the same one; no transaction is open while it is
  // held or wanted, because a CREATE INDEX CONCURRENTLY waits for every older one.
  const { sql, close } = openDatabase(url, { max: 1 });
  const deadline = performance.now() + WAIT_MS;
  try {
    for (;;) {
      const [lock] = await sql<{ got: boolean }>`
        SELECT pg_try_advisory_lock(hashtextextended('sentry prepare', 0)) AS got`;
      if (lock?.got) break;
      if (performance.now() > deadline)
        throw new OpsError(
          'MIGRATION_LOCKED',
          'Another process has been preparing the database for ten minutes.',
          {
            hint: 'Look whether one hangs (pg_locks, locktype advisory), end it, and start again.',
          },
        );
      await sleep(ASK_EVERY_MS);
    }
    return await work();
  } finally {
    await close();
  }
}
