import { readFileSync, realpathSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join, sep } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type WebSocket, WebSocketServer } from 'ws';
import { sendText } from './http-io.ts';
import type { PageDelta, PageFrame, PageSnapshot } from './page-api.ts';

const PAGE_DIR = fileURLToPath(new URL('./page/', import.meta.url));
const require = createRequire(import.meta.url);
/** The page's libraries, straight from node_modules: each is one module that a browser reads as it is. */
const LIBRARIES: Readonly<Record<string, string>> = {
  '/vendor/preact.js': join(dirname(require.resolve('preact')), 'preact.mjs'),
  '/vendor/htm.js': join(dirname(require.resolve('htm')), 'htm.mjs'),
  '/vendor/marked.js': join(dirname(require.resolve('marked')), 'marked.esm.js'),
};
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
};
/** Nothing inline runs, nothing but this server is talked to; pictures in messages may come from anywhere. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: http: https:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');
const PING_MS = 20_000;
/** A page that reads slower than this is cut off; it comes back with a fresh snapshot. */
const MAX_BUFFERED_BYTES = 20_000_000;

/** The page's files and its live connection. */
export class PageServer {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: 1024 });
  readonly #snapshot: () => PageSnapshot;
  readonly #pages = new Set<WebSocket>();
  readonly #pings: NodeJS.Timeout;

  constructor(snapshot: () => PageSnapshot) {
    this.#snapshot = snapshot;
    this.#pings = setInterval(() => {
      for (const page of this.#pages) page.ping();
    }, PING_MS);
    this.#pings.unref();
  }

  broadcast(delta: PageDelta): void {
    if (this.#pages.size === 0) return;
    const text = JSON.stringify(delta);
    for (const page of this.#pages) {
      if (page.bufferedAmount > MAX_BUFFERED_BYTES) page.terminate();
      else page.send(text);
    }
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (page) => {
      this.#pages.add(page);
      page.on('error', () => page.terminate());
      page.on('close', () => this.#pages.delete(page));
      const frame: PageFrame = this.#snapshot();
      page.send(JSON.stringify(frame));
    });
  }

  close(): void {
    clearInterval(this.#pings);
    for (const page of this.#pages) page.terminate();
    this.#server.close();
  }

  /** A file of the page; `/` and permalinks (`/archives/…`) are the page itself. */
  serve(response: ServerResponse, path: string): void {
    const wanted = path === '/' || path.startsWith('/archives/') ? '/index.html' : path;
    const file = LIBRARIES[wanted] ?? pageFile(wanted);
    if (file === undefined) {
      sendText(response, 404, 'not found');
      return;
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    response.end(readFileSync(file));
  }
}

/** The file behind a URL path, only if it really lies in the page's folder (also after links are followed). */
function pageFile(path: string): string | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  if (decoded.includes('\0') || decoded.split(/[/\\]/).some((part) => part.startsWith('.'))) return undefined;
  try {
    const root = realpathSync(PAGE_DIR);
    const file = realpathSync(join(root, decoded));
    return file.startsWith(root + sep) && statSync(file).isFile() ? file : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
