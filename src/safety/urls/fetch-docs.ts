import { Agent, type buildConnector, type Dispatcher, request } from 'undici';
import { anySignal } from '../../core/any-signal.ts';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import { readUpTo } from '../../core/read-up-to.ts';
import { checkUrl } from './check-url.ts';
import { htmlToText } from './html-to-text.ts';
import { pinnedConnector } from './pinned-connector.ts';
import { type Address, pinHost, type Resolver, systemResolver } from './resolve-host.ts';

/** A page, as text. It is somebody else's words: data to quote, never instructions. */
export interface FetchedDocs {
  readonly ok: true;
  /** Where it came from after redirects. */
  readonly url: string;
  readonly contentType: string;
  readonly text: string;
}

export interface FetchOptions {
  /** Hosts; the default list when left out. */
  readonly allow?: readonly string[];
  /** Of everything together, redirects included, ms; 10 s when left out. */
  readonly timeoutMs?: number;
  /** Bytes of the body; 2 MiB when left out. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  readonly resolve?: Resolver;
  /**
   * How a socket to a pinned address is made: TLS to port 443 when left out. Tests give one that connects to a server
   * of theirs; every check before it stays as it is.
   */
  readonly connector?: (pinned: Address) => buildConnector.connector;
}

const MAX_REDIRECTS = 3;
const allowedTypes = /^(?:text\/(?:html|plain|markdown|x-rst)|application\/(?:xhtml\+xml|json))$/u;

/** Fetches a page of documentation by GET, without cookies or credentials, and turns HTML into text. */
export async function fetchDocs(text: string, options: FetchOptions = {}): Promise<FetchedDocs | Refusal> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? 10_000);
  const signal = options.signal ? anySignal([timeout, options.signal]) : timeout;
  let next = text;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    // Each address anew, also one that an allowed host sends us to.
    const checked = checkUrl(next, options.allow);
    if (!checked.ok) return hop === 0 ? checked : refuse(checked.code, `Redirected: ${checked.reason}`);
    const pinned = await pinHost(checked.host, options.resolve ?? systemResolver);
    if (!pinned.ok) return pinned;
    const answer = await ask(checked.url, pinned, { ...options, signal });
    if (!('location' in answer)) return answer;
    if (!URL.canParse(answer.location, checked.url))
      return refuse('URL_MALFORMED', 'The server redirects to something that is no URL.');
    next = new URL(answer.location, checked.url).href;
  }
  return refuse('URL_REDIRECTS', `More than ${MAX_REDIRECTS} redirects.`);
}

async function ask(
  url: string,
  pinned: Address,
  options: FetchOptions & { readonly signal: AbortSignal },
): Promise<FetchedDocs | Refusal | { readonly location: string }> {
  const agent = new Agent({ connect: (options.connector ?? pinnedConnector)(pinned), maxResponseSize: -1 });
  try {
    const response = await request(url, {
      dispatcher: agent,
      method: 'GET',
      signal: options.signal,
      // No compression: what is counted is what is read.
      headers: {
        accept: 'text/html, text/plain;q=0.9',
        'accept-encoding': 'identity',
        'user-agent': 'sentry-oncall',
      },
    });
    return await read(url, response, options.maxBytes ?? 2 * 1024 * 1024);
  } catch (error) {
    if (options.signal.aborted) return refuse('URL_TIMEOUT', 'The page did not come in time.');
    return refuse('URL_FAILED', `The page could not be fetched: ${messageOf(error)}`);
  } finally {
    await agent.destroy();
  }
}

async function read(
  url: string,
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<FetchedDocs | Refusal | { readonly location: string }> {
  const { statusCode: status, headers, body } = response;
  const location = single(headers['location']);
  if (status >= 300 && status < 400 && location !== undefined) return { location };
  if (status !== 200) return refuse('URL_STATUS', `The server answered ${status}.`);
  const contentType = (single(headers['content-type']) ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (!allowedTypes.test(contentType))
    return refuse('URL_CONTENT_TYPE', `The page is "${contentType}", not text.`);
  if ((single(headers['content-encoding']) ?? 'identity') !== 'identity')
    return refuse('URL_CONTENT_TYPE', 'The page is compressed although that was not asked for.');
  const tooLarge = refuse('URL_TOO_LARGE', `The page has more than ${maxBytes} bytes.`);
  if (Number(single(headers['content-length']) ?? 0) > maxBytes) return tooLarge;
  const read = await readUpTo(body, maxBytes);
  if (read === null) return tooLarge;
  const content = read.toString('utf8');
  const text = /html/u.test(contentType) ? htmlToText(content) : content;
  return { ok: true, url, contentType, text };
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
