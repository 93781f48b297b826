import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * How a paging service fails. `down`: it ends every connection before it reads; `hang`: it reads and does nothing, and says nothing;
 * `answer lost`: it does what it is asked, and ends the connection before it answers.
 */
export type PagingFault =
  | { readonly kind: 'down' | 'hang' | 'answer lost' | 'redirect' | '500' }
  | { readonly kind: '429'; readonly retryAfter: string }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string };

export interface PagingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface PagingAnswer {
  readonly status: number;
  readonly body: object;
}

export interface PagingServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** How it fails from now on; null: it works. */
  fault: PagingFault | null;
  /** All that it was asked, with what it did not answer. */
  readonly requests: readonly PagingRequest[];
  stop(): Promise<void>;
}

/** A server on this machine that answers as `handle` says, or fails as it is told to. */
export async function pagingServer(handle: (request: PagingRequest) => PagingAnswer): Promise<PagingServer> {
  const requests: PagingRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing);
  });
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { fault } = served;
    if (fault?.kind === 'down') {
      incoming.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request: PagingRequest = {
      method: incoming.method ?? '',
      url: new URL(incoming.url ?? '', served.url),
      headers: incoming.headers,
      body: Buffer.concat(chunks),
    };
    requests.push(request);
    if (fault?.kind === 'hang') return;
    const failed = failure(fault, served.url);
    if (failed) {
      outgoing.writeHead(failed.status, failed.headers).end(failed.body);
      return;
    }
    const { status, body } = handle(request);
    if (fault?.kind === 'answer lost') incoming.socket.destroy();
    else outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const served: PagingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: null,
    requests,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return served;
}

function failure(
  fault: PagingFault | null,
  url: string,
): { status: number; headers: Record<string, string>; body: string } | null {
  if (fault?.kind === '500') return { status: 500, headers: {}, body: '<html>Internal Server Error</html>' };
  if (fault?.kind === '429')
    return { status: 429, headers: { 'retry-after': fault.retryAfter }, body: '{"message":"slow down"}' };
  if (fault?.kind === 'redirect') return { status: 302, headers: { location: `${url}/elsewhere` }, body: '' };
  return fault?.kind === 'answer' ? { status: fault.status, headers: {}, body: fault.body } : null;
}

/** The JSON object of a body; null: it is none. */
export function objectIn(body: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}
