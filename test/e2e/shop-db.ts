import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';

/** The system under care, seen without Sentry: what the tests check its words against. */
export interface ShopDb {
  /** Pids that hold up others and wait for nobody themselves. */
  rootBlockers(): Promise<readonly number[]>;
  /** How many sessions wait for a lock, by `pg_locks`. */
  waiting(): Promise<number>;
  /** Whether a session with this pid is there. */
  hasSession(pid: number): Promise<boolean>;
  /** Causes or undoes one of the playground's faults without its page. */
  fault(id: string, what: 'cause' | 'undo'): Promise<void>;
  close(): Promise<void>;
}

/** What its process said when it was ready. */
function readyOf(dataDir: string) {
  const said = readFileSync(join(dataDir, 'faults', 'server.log'), 'utf8').split('\n');
  const ready = said.findLast((line) => line.startsWith('{"ready":')) ?? '';
  return JSON.parse(ready) as { readonly url: string; readonly readUrl: string; readonly actUrl: string };
}

/** Variables for a `sentry.yaml` that names it. */
export function shopUrls(dataDir: string): { readonly READ_URL: string; readonly ACT_URL: string } {
  const { readUrl, actUrl } = readyOf(dataDir);
  return { READ_URL: readUrl, ACT_URL: actUrl };
}

/** Opens the playground's shop-db by what its process said when it was ready. */
export function openShopDb(dataDir: string): ShopDb {
  const { url, readUrl } = readyOf(dataDir);
  const sql = postgres(readUrl, { max: 1, onnotice: () => undefined });
  return {
    async rootBlockers() {
      const rows = await sql<{ pid: number }[]>`
        SELECT DISTINCT blocker AS pid
          FROM pg_stat_activity a CROSS JOIN LATERAL unnest(pg_blocking_pids(a.pid)) AS blocker
         WHERE cardinality(pg_blocking_pids(blocker)) = 0`;
      return rows.map(({ pid }) => pid);
    },
    async waiting() {
      const [row] = await sql<{ n: number }[]>`SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted`;
      return row?.n ?? -1;
    },
    async hasSession(pid) {
      const rows = await sql`SELECT FROM pg_stat_activity WHERE pid = ${pid}`;
      return rows.length > 0;
    },
    async fault(id, what) {
      const response = await fetch(`${url}/faults/${id}/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      if (!response.ok) throw new Error(`${what} ${id}: ${await response.text()}`);
    },
    close: () => sql.end({ timeout: 1 }),
  };
}
