import { domainToASCII } from 'node:url';

/** Where `fetch_docs` may go when nothing else is configured (the seed's list). */
export const defaultDocHosts: readonly string[] = ['docs.python.org', 'stackoverflow.com'];

/**
 * An entry of the allow-list in its ASCII form, or undefined when it cannot be one: a host name of at least two
 * labels, no address in any notation, no wildcard, no scheme, no port.
 */
export function allowedHost(entry: string): string | undefined {
  const ascii = domainToASCII(entry.trim()).toLowerCase();
  if (
    ascii.length > 253 ||
    !/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/u.test(ascii)
  )
    return undefined;
  return ascii;
}

/** Whether a host is an entry of the list or lies below one, at a dot. Both in ASCII form. */
export function hostMatches(host: string, allow: readonly string[]): boolean {
  return allow
    .map(allowedHost)
    .some((entry) => entry !== undefined && (host === entry || host.endsWith(`.${entry}`)));
}
