import type { IncomingMessage } from 'node:http';

/** As a browser or a program of this machine calls it. */
export const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const;

type Called = Pick<IncomingMessage, 'rawHeaders' | 'url'>;

/**
 * The name by which a request calls this server, in lower case, without port and final dot; null: none, several, or one
 * that is not written as RFC 9110 has it. A target that is a whole address has to name the same.
 */
export function hostNameOf({ rawHeaders, url = '/' }: Called): string | null {
  const given = rawHeaders.filter((_, n) => n % 2 === 1 && rawHeaders[n - 1]?.toLowerCase() === 'host');
  const [host] = given;
  const name = given.length === 1 && host !== undefined ? nameIn(host) : null;
  if (url.startsWith('/') || url === '*') return name;
  const [, authority = ''] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  return nameIn(authority) === name ? name : null;
}

/** The name in an `Origin`; null for one that is none, such as `null`. */
export function originNameOf(origin: string): string | null {
  const [, authority = ''] = /^https?:\/\/([^/?#]*)$/i.exec(origin) ?? [];
  return nameIn(authority);
}

/** Of `name[:port]`, and of nothing else: no user, no path, no second spelling of an address. */
function nameIn(authority: string): string | null {
  const [, name, port = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(authority) ?? [];
  return name === undefined || Number(port) > 65_535 ? null : name.toLowerCase().replace(/\.$/, '');
}
