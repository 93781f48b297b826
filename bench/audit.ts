import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase } from '../src/infra/db/client.ts';
import { verifyAuditLog } from '../src/safety/audit/audit-verify.ts';

const run = promisify(execFile);
const PROCESSES = 8;
const EACH = 5_000;

/** Entries appended a second by eight processes with 32 callers each, then all of them verified by one. */
export async function benchAudit({ databaseUrl }: { readonly databaseUrl: string }): Promise<object> {
  const database = openDatabase(databaseUrl, { name: 'bench' });
  try {
    const spans = await Promise.all(Array.from({ length: PROCESSES }, (_, n) => worker(databaseUrl, n)));
    // From the first to begin to the last to end: starting node is not part of it.
    const seconds =
      (Math.max(...spans.map(({ ended }) => ended)) - Math.min(...spans.map(({ started }) => started))) /
      1000;
    const began = performance.now();
    const verified = await verifyAuditLog(database.sql, { key: null, witnessed: [] });
    const verifySeconds = (performance.now() - began) / 1000;
    const [settings] = await database.sql`
      SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync`;
    return {
      processes: PROCESSES,
      entries: verified.entries,
      whole: verified.ok && verified.entries === PROCESSES * EACH,
      appendedPerSecond: Math.round((PROCESSES * EACH) / seconds),
      verifiedPerSecond: Math.round(verified.entries / verifySeconds),
      ...settings,
    };
  } finally {
    await database.close();
  }
}

async function worker(url: string, n: number): Promise<{ readonly started: number; readonly ended: number }> {
  const script = fileURLToPath(new URL('./audit-worker.ts', import.meta.url));
  const compiled = script.replace(/\.ts$/, '.js');
  const program = existsSync(compiled) ? [compiled] : ['--import', 'tsx', script];
  const { stdout } = await run(process.execPath, [...program, url, `p${n}`, String(EACH), '32']);
  return JSON.parse(stdout) as { started: number; ended: number };
}
