import type { Json } from '../../core/tool-call.ts';
import type { Advice, FailedRead, GrantSteps } from '../kind.ts';

/** Statement cancelled, lock not available, and what the client says of its own accord. */
const passing: ReadonlySet<string> = new Set([
  'POSTGRES_TIMEOUT',
  'POSTGRES_ABORTED',
  'POSTGRES_CLOSED',
  'POSTGRES_55P03',
]);

/** Lost or refused connections by the codes of postgres.js and the socket; class 08, shutdown and start-up (57P), class 40. */
const away =
  /^POSTGRES_(?:CONNECTION_\w+|CONNECT_TIMEOUT|E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|08\w{3}|57P0\w|40\w{3})$/;

/** SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function advisePostgres(read: FailedRead, reader: string | null): Advice | null {
  const { code, tool } = read;
  const target = read.target ?? '';
  if (code === null) return adviseOnPart(read, target, reader);
  if (away.test(code)) return { way: 'run', isAway: true };
  if (passing.has(code)) return { way: 'run', isAway: false };
  switch (code) {
    case 'POSTGRES_53300':
      return {
        way: 'run',
        isAway: false,
        hint: 'No connection was free: keep one for Sentry with reserved_connections (PostgreSQL 16 and later) and GRANT pg_use_reserved_connections, or superuser_reserved_connections.',
      };
    case 'POSTGRES_57014':
      return {
        way: 'run',
        isAway: false,
        hint: 'The read took longer than its statement timeout; the server may be overloaded.',
      };
    case 'POSTGRES_42501':
      return {
        way: 'grant',
        // A plan needs the rights of the statement; everything else reads what pg_monitor may see.
        steps: privilege(tool === 'postgres_explain' ? 'pg_read_all_data' : 'pg_monitor', target, reader),
        hint: 'Grant it: GRANT pg_monitor TO the role that Sentry reads with.',
      };
    case 'POSTGRES_28P01':
    case 'POSTGRES_28000':
    case 'POSTGRES_3D000':
      return { way: 'grant', steps: login(target) };
    case 'POSTGRES_NO_STATISTICS':
      return { way: 'grant', steps: statistics(target) };
    case 'POSTGRES_42P01':
    case 'POSTGRES_42883':
    case 'POSTGRES_55000':
      return {
        way: 'explain',
        hint: 'It needs an extension that is not there; for pg_stat_statements: add it to shared_preload_libraries, restart, CREATE EXTENSION pg_stat_statements.',
      };
    default:
      return null;
  }
}

/** It answered, and says itself what it was not shown. */
function adviseOnPart({ result }: FailedRead, target: string, reader: string | null): Advice | null {
  const data = (result ?? {}) as { readonly [key: string]: Json | undefined };
  const hidden = typeof data['hidden_count'] === 'number' ? data['hidden_count'] : 0;
  const monitor = privilege('pg_monitor', target, reader);
  if (hidden > 0)
    return {
      way: 'grant',
      reason: `${hidden} ${hidden === 1 ? 'session is' : 'sessions are'} hidden from the role that Sentry reads with.`,
      steps: monitor,
    };
  if (data['wal_dir_bytes'] === null)
    return { way: 'grant', reason: 'The pg_wal folder could not be listed.', steps: monitor };
  if (data['available'] === false)
    return {
      way: 'grant',
      reason: 'pg_stat_statements is not available there.',
      steps: statistics(target),
    };
  return null;
}

function privilege(
  role: 'pg_monitor' | 'pg_read_all_data',
  target: string,
  reader: string | null,
): GrantSteps {
  return {
    who: `A superuser of ${target}, or a role that holds ${role} with ADMIN OPTION.`,
    what: 'Run this in the database, as one of them:',
    exact: `GRANT ${role} TO ${reader === null ? '<the role that Sentry reads with>' : sqlName(reader)};`,
    note:
      role === 'pg_monitor'
        ? 'It lets the role see what sessions do and read statistics; it does not let it read tables or change anything. It counts at once.'
        : 'It lets the role read every table. SELECT on the tables of this statement alone is enough as well. It counts at once.',
  };
}

const statistics = (target: string): GrantSteps => ({
  who: `A superuser of ${target}.`,
  what: 'Set this in postgresql.conf, restart the server, then run the statement in the database that Sentry reads:',
  exact:
    "shared_preload_libraries = 'pg_stat_statements'\n\nCREATE EXTENSION IF NOT EXISTS pg_stat_statements;",
  note: 'Keep what shared_preload_libraries names already, and plan the restart: it ends all sessions.',
});

const login = (target: string): GrantSteps => ({
  who: 'Whoever runs Sentry.',
  what: `The login that Sentry reads ${target} with is refused. Correct the URL in the variable that its read_url_env names in sentry.yaml, or the role and pg_hba.conf of the server.`,
  exact: null,
  note: 'Restart Sentry after a change of the variable: it reads its environment at the start.',
});

/** As SQL takes it: bare where that is the same name, else quoted. */
function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_]{0,62}$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
