import { domainToASCII } from 'node:url';
import { type Refusal, refuse } from '../../core/errors.ts';
import { allowedHost, defaultDocHosts, hostMatches } from './allowed-hosts.ts';

/** A URL that may be fetched, as far as its text goes; its address is judged when it is resolved. */
export interface CheckedUrl {
  readonly ok: true;
  /** In the form in which it is requested; without a fragment. */
  readonly url: string;
  /** ASCII, lower case. */
  readonly host: string;
}

/** Long enough for a page's address, too short to carry a file away. */
const MAX_LENGTH = 1024;
const MAX_QUERY = 300;

/** Scheme, authority and the rest as they stand: what `URL` would repair or drop is refused instead. */
const form = /^https:\/\/([^/?#]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/iu;

/**
 * Whether a URL, as a model or a page wrote it, is https to a host of the allow-list. Pure. Two readers must not take
 * it for two different things, so everything that parsers disagree about is refused.
 */
export function checkUrl(text: string, allow: readonly string[] = defaultDocHosts): CheckedUrl | Refusal {
  if (text.length > MAX_LENGTH)
    return refuse('URL_TOO_LONG', `The URL has more than ${MAX_LENGTH} characters.`);
  // A space is refused with them: URL parsers trim it, drop it or escape it.
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\\]/u.test(text))
    return refuse(
      'URL_CHARACTER',
      'The URL holds a space, a backslash, a control or an invisible character.',
    );
  const [, authority, path = '/', query = ''] = form.exec(text) ?? [];
  if (authority === undefined)
    return refuse('URL_SCHEME', 'Only complete URLs that start with "https://" and a host are fetched.');
  const host = readHost(authority, allow);
  if (typeof host !== 'string') return host;
  const refusal = refuseRest(path, query, allow);
  if (refusal) return refusal;
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  // The parser that sends the request must have read the same host.
  if (!parsed || parsed.protocol !== 'https:' || parsed.host !== host || parsed.username || parsed.password)
    return refuse('URL_MALFORMED', 'The URL cannot be read in one way only.');
  parsed.hash = '';
  return { ok: true, url: parsed.href, host };
}

function readHost(authority: string, allow: readonly string[]): string | Refusal {
  if (authority.includes('@'))
    return refuse('URL_CREDENTIALS', 'A user or password before the host is not allowed.');
  if (/^\[|\]/u.test(authority))
    return refuse('URL_ADDRESS', 'The host is an IP address; only names are allowed.');
  if (authority.includes(':')) return refuse('URL_PORT', 'A port is not allowed: https is on 443.');
  if (authority.includes('%')) return refuse('URL_HOST', 'The host holds a percent escape.');
  const lower = authority.toLowerCase();
  const ascii = domainToASCII(lower);
  if (ascii === '') return refuse('URL_HOST', 'The host is no valid domain name.');
  // WHATWG URL: a host whose last label is a number is an IPv4 address in some notation.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/u.test(ascii))
    return refuse('URL_ADDRESS', 'The host is an IP address; only names are allowed.');
  if (/[^a-z0-9.-]/u.test(lower) && !allow.some((entry) => entry.toLowerCase() === lower))
    return refuse('URL_LOOKALIKE', 'The host is written with characters that are not plain ASCII.');
  if (/[^a-z0-9.-]|\.\.|^\.|\.$/u.test(ascii)) return refuse('URL_HOST', 'The host is no plain domain name.');
  if (!hostMatches(ascii, allow))
    return refuse('URL_NOT_ALLOWED', `${ascii} is not on the allow-list (${allow.join(', ')}).`);
  if (/(?:^|\.)xn--/u.test(ascii) && !allow.some((entry) => allowedHost(entry) === ascii))
    return refuse('URL_LOOKALIKE', 'A punycode name below an allowed host is not on the allow-list itself.');
  return ascii;
}

/** What follows the host: no hidden controls, no address of another site for a redirector to follow. */
function refuseRest(path: string, query: string, allow: readonly string[]): Refusal | undefined {
  if (query.length > MAX_QUERY)
    return refuse('URL_TOO_LONG', `The query has more than ${MAX_QUERY} characters.`);
  const plain = decodeRepeatedly(path + query);
  if (plain === undefined)
    return refuse('URL_ENCODED', 'The URL is percent-encoded more than three times over.');
  if (/[\p{Cc}\\]/u.test(plain))
    return refuse('URL_ENCODED', 'A percent escape hides a control character or a backslash.');
  if (plain.startsWith('//'))
    return refuse('URL_NESTED', 'The path starts like the address of another site.');
  for (const [, nested = ''] of plain.matchAll(/(?:[a-z][a-z0-9+.-]*:|[=&?])\/\/+([^/?#&]*)/giu)) {
    if (!hostMatches(nested.toLowerCase(), allow))
      return refuse(
        'URL_NESTED',
        'The URL carries the address of another site, which a redirector could follow.',
      );
  }
  return undefined;
}

function decodeRepeatedly(text: string): string | undefined {
  let plain = text;
  for (let round = 0; round < 4; round += 1) {
    const next = plain.replaceAll(/(?:%[0-9a-f]{2})+/giu, (run) =>
      Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
    );
    if (next === plain) return plain;
    plain = next;
  }
  return undefined;
}
