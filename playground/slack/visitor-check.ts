import type { IncomingMessage } from 'node:http';
import { hostNameOf, LOOPBACK_NAMES } from '../../src/http/known-host.ts';

/**
 * Keeps foreign web pages out. The server trusts whoever can reach it, so a page the developer happens to visit
 * must not: its requests carry a foreign `Origin`, and after DNS rebinding a foreign `Host`.
 * Returns why a request is refused, or undefined.
 */
export function refusalOf(
  request: IncomingMessage,
  port: number,
  extraHosts: readonly string[],
): string | undefined {
  const allowed = [...LOOPBACK_NAMES, ...extraHosts].map((name) => `${name}:${port}`);
  const host = request.headers.host?.toLowerCase();
  if (host === undefined || !allowed.includes(host) || hostNameOf(request) === null)
    return 'this Host is not served here';
  const { origin } = request.headers;
  if (origin !== undefined && !allowed.some((name) => origin.toLowerCase() === `http://${name}`)) {
    return 'this Origin may not call';
  }
  return undefined;
}
