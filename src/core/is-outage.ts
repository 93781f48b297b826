import { OpsError } from './errors.ts';

/** How deep causes are looked into; a chain that is longer is a circle. */
const MAX_CAUSES = 8;

/** Of Node, of undici and of postgres.js: no connection, or one that was lost. */
const CONNECTION =
  /^(?:E(?:CONN|PIPE|TIMEDOUT|SOCKET|NOTFOUND|AI_AGAIN|HOST|NET)|CONNECT(?:ION)?_|UND_ERR_|ABORT_ERR)/;

/**
 * SQLSTATE classes that say nothing about the statement (PostgreSQL, appendix A): connection, resources, operator
 * intervention, system error; two transactions in each other's way; a server that is read-only for now; no lock in time.
 */
const DATABASE = /^(?:08|53|57|58|40)[0-9A-Z]{3}$|^25006$|^55P03$/;

/** Whether the same work may succeed later without anybody changing anything: it is tried again for as long as it takes. */
export function isOutage(error: unknown): boolean {
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth++) {
    if (at instanceof OpsError && at.retryable) return true;
    const { code } = at as { readonly code?: unknown };
    if (typeof code === 'string' && (CONNECTION.test(code) || DATABASE.test(code))) return true;
    if (at instanceof AggregateError && at.errors.some(isOutage)) return true;
    at = at.cause;
  }
  return false;
}
