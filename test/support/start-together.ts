import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../src/core/sql.ts';
import { openDatabase } from '../../src/infra/db/client.ts';
import type { Row } from './typed.ts';

const KEY = 20_261;

/** In a process of a test: waits until all of them are here, so that none is done before another has begun. */
export async function startingTogether(sql: Sql): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock_shared(${KEY})`;
}

/** Starts processes that call `startingTogether`, and lets them go when `count` of them wait. */
export async function startTogether<T>(url: string, count: number, start: () => Promise<T>): Promise<T> {
  const { sql, close } = openDatabase(url, { max: 1 });
  await sql`SELECT pg_advisory_lock(${KEY})`;
  let ended = false;
  const going = start().finally(() => {
    ended = true;
  });
  try {
    for (;;) {
      const [row] = await sql<Row>`
        SELECT count(*) AS n FROM pg_locks JOIN pg_database d ON d.oid = database
         WHERE datname = current_database() AND locktype = 'advisory' AND objid = ${KEY} AND NOT granted`;
      if (row?.['n'] === count || ended) break;
      await sleep(10);
    }
  } finally {
    await sql`SELECT pg_advisory_unlock(${KEY})`;
    await close();
  }
  return going;
}
