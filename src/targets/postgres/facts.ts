import type { PostgresSystem } from './system.ts';

const TIMEOUT_MS = 5_000;

/** The server, its platform and its extensions. */
export async function postgresFacts(system: PostgresSystem): Promise<Readonly<Record<string, string>>> {
  const options = { timeoutMs: TIMEOUT_MS, signal: AbortSignal.timeout(TIMEOUT_MS) };
  const [server, extensions] = await system.read(
    async (session) => [
      await session.query(`SELECT current_setting('server_version') AS version, version() AS whole`),
      await session.query('SELECT extname, extversion FROM pg_extension ORDER BY extname'),
    ],
    options,
  );
  const row = server?.[0] ?? {};
  // "PostgreSQL 17.2 (Debian 17.2-1) on x86_64-pc-linux-gnu, compiled by …"
  const platform = / on ([^,]+)/.exec(String(row['whole']))?.[1];
  return {
    postgresql: String(row['version']).split(' ')[0] ?? '',
    ...(platform ? { os: platform } : {}),
    ...Object.fromEntries(
      (extensions ?? []).map((one) => [`extension ${String(one['extname'])}`, String(one['extversion'])]),
    ),
  };
}
