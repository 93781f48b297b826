import { messageOf, OpsError } from '../../../core/errors.ts';
import { sslHint } from '../../../core/postgres-url.ts';

export interface FaultPlace {
  readonly target: string;
  readonly credential: 'read' | 'act';
}

/** Codes of postgres.js and the socket that mean: there is no connection (any more). */
const connectionCodes: readonly string[] = [
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
];

/** The server ended the session or cannot take one now: class 08 (but 08P01), 57P (shutdown, crash, starting up). */
const lostStates = /^(08\d{3}|57P0.)$/;

/** True when the statement may or may not have been executed: the connection went away under it. */
export function isConnectionLoss(code: string): boolean {
  const bare = code.replace(/^POSTGRES_/, '');
  return connectionCodes.includes(bare) || lostStates.test(bare);
}

/** The fault as an operator should read it: code `POSTGRES_<SQLSTATE>` (or the socket's), what to do, whether to try again. */
export function postgresFault(place: FaultPlace, error: unknown): OpsError {
  if (error instanceof OpsError) return error;
  const code = String((error as { code?: unknown }).code ?? 'UNKNOWN').toUpperCase();
  return new OpsError(`POSTGRES_${code}`, `${place.target}: ${messageOf(error)}`, {
    hint: hintFor(code, messageOf(error), place),
    retryable: isConnectionLoss(code) || retryableStates.test(code),
    cause: error,
  });
}

/** Serialisation and deadlock (40), resources (53), cancelled or timed out (57014), lock not available (55P03). */
const retryableStates = /^(40...|53...|57014|55P03)$/;

function hintFor(code: string, message: string, { target, credential }: FaultPlace): string {
  const overSsl = sslHint(code, message);
  if (overSsl !== null) return overSsl;
  const role = credential === 'read' ? 'the reading role' : 'the acting role';
  switch (code) {
    case '28P01':
      return `Check user and password of ${role} of target "${target}", and the server's pg_hba.conf.`;
    case '3D000':
      return `The database in the URL of ${role} of target "${target}" does not exist; correct the URL.`;
    case '42501':
      return grantFor(message, credential);
    case '53300':
      return `Every connection slot of "${target}" is taken. Sentry keeps a reserved connection, but lost it or was started too late; it tries again every second. Grant pg_use_reserved_connections (PostgreSQL 16+) to its roles, or free a slot.`;
    case '57P03':
      return `"${target}" is starting up, shutting down or recovering; try again in some seconds.`;
    case '57P01':
    case '57P02':
      return `The session on "${target}" was ended by an administrator or a crash; Sentry connects again by itself.`;
    case '57014':
      return 'The statement was cancelled or took longer than its time limit; the server may be overloaded.';
    case '55P03':
      return 'Something holds an exclusive lock on what was to be read; look at postgres_blocking_tree.';
    case '25006':
      return 'The session is read-only: this credential, or the server (a standby), cannot change anything.';
    case 'ECONNREFUSED':
      return `Nothing listens at the address of "${target}": is the server running, and the port right?`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name in the URL of "${target}" cannot be resolved.`;
    default:
      return isConnectionLoss(code)
        ? `The connection to "${target}" is gone; Sentry connects again by itself. Look whether the server runs.`
        : 'Look at the message; PostgreSQL\'s "Appendix A. Error Codes" explains the state.';
  }
}

function grantFor(message: string, credential: 'read' | 'act'): string {
  if (credential === 'read')
    return `Grant the reading role what it lacks: GRANT pg_monitor TO <role>; (${message})`;
  if (/terminate|cancel|signal/i.test(message))
    return 'GRANT pg_signal_backend TO <acting role>; sessions of superusers stay out of its reach.';
  if (/parameter|ALTER SYSTEM/i.test(message))
    return 'GRANT ALTER SYSTEM ON PARAMETER <name> TO <acting role>; and GRANT EXECUTE ON FUNCTION pg_reload_conf() TO <acting role>; (PostgreSQL 15+).';
  if (/pg_reload_conf/i.test(message)) return 'GRANT EXECUTE ON FUNCTION pg_reload_conf() TO <acting role>;';
  return 'On PostgreSQL 17 and newer: GRANT pg_maintain TO <acting role>; before: GRANT <owner of the table> TO <acting role>. To end sessions: GRANT pg_signal_backend TO <acting role>.';
}
