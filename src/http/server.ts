import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Histogram, Registry } from 'prom-client';
import { messageOf, OpsError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { whyNot } from '../core/system-fault.ts';
import type { ClientAddress } from './client-address.ts';
import { hostNameOf, LOOPBACK_NAMES, originNameOf } from './known-host.ts';
import { matchPath } from './match-path.ts';
import type { RateLimit, RequestKind } from './ports.ts';
import { readBody } from './read-body.ts';
import type { Guard, HttpAnswer, HttpHead, Route } from './route.ts';

/** A socket that listens already, or still: two processes may hold the same one. */
export interface ListeningSocket {
  readonly host: string;
  readonly port: number;
  /** Node's own: another process of the family can be given it. */
  readonly handle: object;
}

export interface HttpServer {
  /** Resolves with the real port (0 asks for a free one). @throws OpsError HTTP_LISTEN */
  listen(): Promise<ListeningSocket>;
  /** Takes no more, lets running requests end for at most `graceMs`, then cuts them. */
  close(graceMs?: number): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  /** To accept from, instead of a new one on `host` and `port`. */
  readonly socket?: ListeningSocket | null;
  readonly routes: readonly Route[];
  /** Asked before anything is said of what is below its paths. */
  readonly guard?: Guard;
  /** Names under which this server is reached, beside those of this machine and `host`. */
  readonly names?: readonly string[];
  /** Paths handed over whole, before anything is read: for a receiver that checks signatures over the raw body itself. */
  readonly mounts?: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>>;
  readonly log: Log;
  readonly metrics?: Registry;
  readonly rateLimit?: RateLimit;
  /** Behind proxies; without it the other end of the connection is who calls. */
  readonly clientAddress?: ClientAddress;
  /** For the whole request to arrive, ms; slower is answered 408. */
  readonly receiveTimeoutMs?: number;
}

/** OWASP's REST set: nothing here is ever a page, is cached, framed or sniffed. */
const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const DEFAULT_BODY_LIMIT = 1024 * 1024;
const HEADER_LIMIT = 16 * 1024;

/** One node:http server for webhooks, health and metrics; every answer carries the security headers. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { routes, guard, log, rateLimit } = options;
  const receiveTimeoutMs = options.receiveTimeoutMs ?? 10_000;
  const names = knownNames(options);
  const registers = [options.metrics ?? new Registry()];
  const requests = new Counter({
    name: 'sentry_http_requests_total',
    help: 'Requests answered, by path and status.',
    labelNames: ['path', 'status'],
    registers,
  });
  const limitedCount = new Counter({
    name: 'sentry_http_limited_total',
    help: 'Requests over the limit of their source.',
    labelNames: ['kind'],
    registers,
  });
  const seconds = new Histogram({
    name: 'sentry_http_request_seconds',
    help: 'From the request line to the answer.',
    labelNames: ['path'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const server = createServer({
    maxHeaderSize: HEADER_LIMIT,
    headersTimeout: receiveTimeoutMs,
    requestTimeout: receiveTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, receiveTimeoutMs),
    keepAliveTimeout: 65_000,
  });
  server.on('request', (request, response) => void serve(request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    socket.end(rawAnswer(error.code ?? ''));
  });
  return {
    listen: () => listen(server, options),
    close: (graceMs = 5_000) => close(server, graceMs),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const head = headOf(request, options.clientAddress);
    const mounted = head && options.mounts?.[head.path];
    if (mounted) {
      const full = limited(head, 'signed');
      if (full) return send(response, full, true);
      for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
      mounted(request, response);
      return;
    }
    const known = head && routes.find((route) => matchPath(route.path, head.path));
    let reply: HttpAnswer;
    try {
      reply = head ? await answer(request, head) : { status: 400, body: { error: 'not a path' } };
    } catch (error) {
      log.error(
        { path: head?.path, error: messageOf(error), stack: (error as Error).stack },
        'request failed',
      );
      reply = { status: 500, body: { error: 'internal error' } };
    }
    send(response, reply, !request.complete);
    // A label of unbounded values would grow the registry with every scan of the port.
    const path = known ? known.path : 'other';
    requests.inc({ path, status: String(reply.status) });
    seconds.observe({ path }, (performance.now() - started) / 1000);
  }

  function limited(head: Pick<HttpHead, 'peer'>, kind: RequestKind): HttpAnswer | null {
    const answered = rateLimit?.({ peer: head.peer, kind });
    if (answered?.ok !== false) return null;
    limitedCount.inc({ kind });
    return {
      status: 429,
      headers: { 'retry-after': String(answered.retryAfterSeconds) },
      body: { error: 'too many requests' },
    };
  }

  async function answer(request: IncomingMessage, head: HttpHead): Promise<HttpAnswer> {
    const admitted = guard && isBelow(guard.roots, head.path) ? guard.admit(head) : null;
    if (admitted && 'status' in admitted) return limited(head, 'stranger') ?? admitted;
    const full = admitted && limited({ peer: admitted.caller }, 'known');
    if (full) return full;
    // Whom the guard let in is counted by name already.
    const limit = (kind: RequestKind): HttpAnswer | null => (admitted ? null : limited(head, kind));
    return answerFrom(request, head, limit);
  }

  async function answerFrom(
    request: IncomingMessage,
    head: HttpHead,
    limit: (kind: RequestKind) => HttpAnswer | null,
  ): Promise<HttpAnswer> {
    const here = routes.filter((route) => matchPath(route.path, head.path));
    if (here.length === 0) return limit('stranger') ?? { status: 404, body: { error: 'no such path' } };
    const route = here.find(
      ({ method }) => method === head.method || (method === 'GET' && head.method === 'HEAD'),
    );
    if (!route) {
      const allow = here.map(({ method }) => method).join(', ');
      return limit('stranger') ?? { status: 405, headers: { allow }, body: { error: `expected ${allow}` } };
    }
    const refused = strangeHost(head, route, names) ?? route.admit?.(head);
    const full = limit(route.admit && !refused ? 'known' : 'stranger');
    if (full) return full;
    if (refused && refused !== 'in_body') return refused;
    const mediaType = (head.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    if (route.mediaTypes && !route.mediaTypes.includes(mediaType))
      return { status: 415, body: { error: `expected content-type ${route.mediaTypes.join(' or ')}` } };
    const most = route.bodyLimit ?? DEFAULT_BODY_LIMIT;
    const body = await readBody(request, most);
    if (body === 'too_large') return { status: 413, body: { error: `the body is over ${most} bytes` } };
    if (body === 'aborted') return { status: 400, body: { error: 'the body ended early' } };
    return route.handle({ ...head, body, params: matchPath(route.path, head.path) ?? {} });
  }
}

const isBelow = (roots: readonly string[], path: string): boolean =>
  roots.some((root) => path === root || path.startsWith(`${root}/`));

function knownNames({ host, names = [] }: HttpServerOptions): ReadonlySet<string> {
  const own = host.includes(':') ? `[${host}]` : host;
  const listens = ['0.0.0.0', '[::]'].includes(own) ? [] : [own];
  return new Set([...LOOPBACK_NAMES, ...listens, ...names].map((name) => name.toLowerCase()));
}

/**
 * A page in somebody's browser whose name was bound to this address anew (DNS rebinding) comes with that name as its host
 * or origin. Programs send no origin.
 */
function strangeHost({ host, headers: { origin } }: HttpHead, route: Route, names: ReadonlySet<string>) {
  const isKnown = (name: string | null): boolean => name !== null && names.has(name);
  const isServed = isKnown(host) || (route.anyHost === true && host !== null);
  const from = origin === undefined ? host : originNameOf(origin);
  if (isServed && (isKnown(from) || from === host)) return null;
  return {
    status: 403,
    body: { error: 'not a host of this server: name it in SENTRY_HTTP_HOSTS if it is one' },
  };
}

function headOf(request: IncomingMessage, clientAddress?: ClientAddress): HttpHead | null {
  let url: URL;
  try {
    url = new URL(request.url ?? '/', 'http://localhost');
  } catch {
    return null; // Answered 400.
  }
  const other = request.socket.remoteAddress ?? '';
  const peer = clientAddress?.(other, String(request.headers['x-forwarded-for'] ?? '')) ?? other;
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    host: hostNameOf(request),
    peer,
    isLoopback: /^(?:::ffff:)?127\.|^::1$/.test(peer),
  };
}

function send(response: ServerResponse, { status, headers, body }: HttpAnswer, unread: boolean): void {
  if (response.headersSent || response.destroyed) return;
  const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
  response.writeHead(status, {
    ...securityHeaders,
    'content-type':
      typeof body === 'object' ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    // What the peer still sends of a body nobody read must not be taken for its next request.
    ...(unread ? { connection: 'close' } : {}),
    ...headers,
  });
  response.end(text);
}

/** For a request too broken to become one. */
function rawAnswer(code: string): string {
  const status =
    code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  const headers = Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status}`, ...headers, 'content-length: 0', 'connection: close', '', ''].join('\r\n');
}

function listen(
  server: Server,
  { host, port, socket }: Pick<HttpServerOptions, 'host' | 'port' | 'socket'>,
): Promise<ListeningSocket> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new OpsError('HTTP_LISTEN', `cannot listen on ${host}:${port}: ${whyNot(error)}`, {
          hint:
            error.code === 'EADDRINUSE'
              ? 'Another program has the port: stop it, or set SENTRY_HTTP_PORT (0 takes a free one).'
              : 'Check SENTRY_HTTP_HOST and SENTRY_HTTP_PORT.',
          cause: error,
        }),
      );
    });
    const listening = (): void => {
      const { _handle: handle } = server as unknown as { readonly _handle: object };
      resolve({ host, port: (server.address() as AddressInfo).port, handle });
    };
    if (socket) server.listen(socket.handle, listening);
    else server.listen(port, host, listening);
  });
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
