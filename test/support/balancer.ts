import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A small balancer: one after the other, the next when one refuses or resets, 503 when none is left. */
export interface Balancer {
  readonly url: string;
  /** Base URLs, as they are now. */
  backends: readonly string[];
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const body = await buffer(incoming);
      const { backends } = balancer;
      turn += 1;
      for (let tried = 0; tried < backends.length; tried += 1) {
        const backend = backends[(turn + tried) % backends.length] ?? '';
        if (await passOn(incoming, body, backend, outgoing)) return;
      }
      outgoing.writeHead(503, { 'retry-after': '1' }).end();
    })();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const balancer: Balancer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    backends: [],
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return balancer;
}

/** False when nobody answered there. */
function passOn(
  { method, url, headers, socket }: IncomingMessage,
  body: Buffer,
  backend: string,
  outgoing: ServerResponse,
): Promise<boolean> {
  const before = headers['x-forwarded-for'];
  const forwarded = [...(before ? [String(before)] : []), socket.remoteAddress ?? ''].join(', ');
  return new Promise((done) => {
    const passed = request(
      new URL(url ?? '/', backend),
      { method, agent: false, headers: { ...headers, 'x-forwarded-for': forwarded } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        done(true);
      },
    );
    passed.on('error', () => done(false));
    passed.end(body);
  });
}
