import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { messageOf } from '../../../core/errors.ts';

/** What the server behind a port says about itself once it let us in. */
interface LoggedIn {
  readonly dataDirectory: string;
}

/** `refused`: a server answered and this is not our password. `unready`: nobody answers yet, or it is starting. */
export type Login =
  | { readonly kind: 'in'; readonly server: LoggedIn }
  | { readonly kind: 'refused' | 'unready'; readonly reason: string };

/** One attempt with the given url; never throws. */
async function tryLogin(url: string): Promise<Login> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => undefined });
  try {
    const rows = await sql<{ setting: string }[]>`SELECT current_setting('data_directory') AS setting`;
    return { kind: 'in', server: { dataDirectory: rows[0]?.setting ?? '' } };
  } catch (error) {
    // Class 28: the password or the role is wrong. Everything else is a server that is not ready (57P03) or gone.
    const code = (error as { code?: string }).code ?? '';
    return { kind: code.startsWith('28') ? 'refused' : 'unready', reason: messageOf(error) };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Tries until a server lets us in or refuses us, `alive` turns false, or the time is over. */
export async function loginWhenReady(url: string, alive: () => boolean, timeoutMs: number): Promise<Login> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const login = await tryLogin(url);
    if (login.kind !== 'unready' || !alive() || Date.now() >= deadline) return login;
    await sleep(30);
  }
}

/** Makes the database when the cluster has none of that name. */
export async function ensureDatabase(url: string, database: string): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => undefined });
  try {
    const [found] = await sql`SELECT 1 FROM pg_database WHERE datname = ${database}`;
    if (found !== undefined) return;
    await sql`CREATE DATABASE ${sql(database)}`;
  } catch (error) {
    // 42P04, 23505: somebody else made it in the same moment.
    const code = (error as { code?: string }).code ?? '';
    if (code !== '42P04' && code !== '23505') throw error;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
