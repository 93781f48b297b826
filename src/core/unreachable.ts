/** Nobody took the connection: refused, not answered, no way there, or a server that is starting up or shutting down. */
const CODES = ['ECONNREFUSED', 'CONNECT_TIMEOUT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', '57P03'];

/**
 * Whether the failure of a read shows that the system itself cannot be reached. A session that was ended, a refused password
 * or a name that cannot be resolved here do not: they say something about Sentry's own way to it.
 */
export function isUnreachable(code: string | null): boolean {
  return code !== null && CODES.some((each) => code === each || code.endsWith(`_${each}`));
}
