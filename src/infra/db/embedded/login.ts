import type { Sql } from 'postgres';
import { messageOf } from '../../../core/errors.ts';
import { withConnection } from '../with-connection.ts';

/** `refused`: a server answered and it is not ours. `unready`: nobody answers yet, or it is starting. */
type Login =
  | { readonly kind: 'in' }
  | { readonly kind: 'unready' }
  | { readonly kind: 'refused'; readonly reason: string };

/** One attempt with the given url. The server has to work on `cluster`; it is given the database where it has none. */
export async function logIn(url: string, cluster: string, database: string): Promise<Login> {
  const look = async (sql: Sql): Promise<Login> => {
    const [row] = await sql<{ folder: string; isMade: boolean }[]>`
      SELECT current_setting('data_directory') AS folder,
        EXISTS (SELECT FROM pg_database WHERE datname = ${database}) AS "isMade"`;
    if (row?.folder !== cluster) return { kind: 'refused', reason: `its data is in ${row?.folder}` };
    if (!row.isMade) await sql`CREATE DATABASE ${sql(database)}`;
    return { kind: 'in' };
  };
  try {
    return await withConnection(url, look, { connectSeconds: 5 });
  } catch (error) {
    // Class 28: the password or the role is wrong. Everything else passes: the server is not ready (57P03) or gone, or
    // somebody else made the database in the same moment.
    const code = (error as { code?: string }).code ?? '';
    return code.startsWith('28') ? { kind: 'refused', reason: messageOf(error) } : { kind: 'unready' };
  }
}
