import postgres, { type Sql } from 'postgres';
import { messageOf } from '../../../core/errors.ts';

/** `refused`: a server answered and this is not our password. `unready`: nobody answers yet, or it is starting. */
export type Login =
  | { readonly kind: 'in'; readonly dataDirectory: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unready' };

/** One attempt with the given url. */
export function tryLogin(url: string): Promise<Login> {
  return withSql(url, async (sql) => {
    try {
      const rows = await sql<{ setting: string }[]>`SELECT current_setting('data_directory') AS setting`;
      return { kind: 'in', dataDirectory: rows[0]?.setting ?? '' };
    } catch (error) {
      // Class 28: the password or the role is wrong. Everything else is a server that is not ready (57P03) or gone.
      return codeOf(error).startsWith('28')
        ? { kind: 'refused', reason: messageOf(error) }
        : { kind: 'unready' };
    }
  });
}

/** Makes the database when the cluster has none of that name. */
export function ensureDatabase(url: string, database: string): Promise<void> {
  return withSql(url, async (sql) => {
    const [found] = await sql`SELECT 1 FROM pg_database WHERE datname = ${database}`;
    if (found !== undefined) return;
    try {
      await sql`CREATE DATABASE ${sql(database)}`;
    } catch (error) {
      // 42P04, 23505: somebody else made it in the same moment.
      if (!['42P04', '23505'].includes(codeOf(error))) throw error;
    }
  });
}

async function withSql<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? '';
}
