import postgres, { type Sql } from 'postgres';
import { postgresConnection } from '../process/postgres-connection.ts';

/** Runs `use` on a connection of its own, which is closed again: for a start, before any pool is open. */
export async function withConnection<T>(
  url: string,
  use: (sql: Sql) => Promise<T>,
  options: { readonly connectSeconds?: number; readonly role?: string } = {},
): Promise<T> {
  const { connectSeconds = 10, role } = options;
  const connection = role === undefined ? {} : { connection: { role } };
  const { url: plain, ssl } = postgresConnection(url);
  const sql = postgres(plain, {
    ssl,
    max: 1,
    connect_timeout: connectSeconds,
    onnotice: () => undefined,
    ...connection,
  });
  try {
    return await use(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
