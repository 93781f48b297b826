import { messageOf, OpsError } from '../../core/errors.ts';
import { sslHint } from '../../core/postgres-url.ts';
import { systemFault } from '../../core/system-fault.ts';

/** What went wrong on the way to the record, as an operator should read it. Others are returned as they are. */
export function recordFault(error: unknown): unknown {
  if (error instanceof OpsError) return error;
  const code = String((error as { readonly code?: unknown } | null)?.code ?? '').toUpperCase();
  const hint = sslHint(code, messageOf(error)) ?? hints[code];
  if (hint === undefined) return error;
  // Where several addresses were tried, the error has no words.
  const said = systemFault(error) ?? (messageOf(error) || code);
  return new OpsError('DATABASE', `The database of DATABASE_URL cannot be used: ${said}`, {
    hint,
    cause: error,
    retryable: true,
  });
}

const unreachable =
  'Nothing answers there: is the server running, and are host and port in DATABASE_URL right?';
const hints: Readonly<Record<string, string>> = {
  ECONNREFUSED: unreachable,
  ETIMEDOUT: unreachable,
  CONNECT_TIMEOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: 'The server ended the connection: read its log.',
  CONNECTION_CLOSED: 'The server ended the connection: read its log.',
  ENOTFOUND: 'The name of the host in DATABASE_URL cannot be resolved: correct it, or look at the network.',
  EAI_AGAIN: 'The name of the host in DATABASE_URL cannot be resolved now: look at the network.',
  '28P01': 'User or password in DATABASE_URL is wrong.',
  '3D000': 'The database that DATABASE_URL names does not exist: create it (createdb), or correct the name.',
  '42501': 'The role in DATABASE_URL must own its database: ALTER DATABASE … OWNER TO ….',
  '53300': 'The server has no free connection; Sentry uses about 25 (max_connections).',
  '57P03': 'The server is starting up or shutting down: try again in a moment.',
};
