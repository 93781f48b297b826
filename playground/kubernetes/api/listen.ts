import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { generate } from 'selfsigned';

export interface Listening {
  readonly url: string;
  /** The certificate that clients are to trust; null without TLS. */
  readonly ca: string | null;
  /** Ends every connection. */
  cutConnections(): void;
  close(): Promise<void>;
}

/** A key and its certificate, as PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Listens on the loopback; without a certificate not by TLS, over which alone kubectl sends a token. */
export async function listen(
  handler: RequestListener,
  certificate: Certificate | null,
  port: number,
): Promise<Listening> {
  const server =
    certificate === null ? createHttpServer(handler) : createHttpsServer({ ...certificate }, handler);
  // The server's own list begins when TLS is agreed upon: what is still shaking hands would outlive its end.
  const sockets = new Set<Socket>();
  let isClosed = false;
  server.on('connection', (socket: Socket) => {
    if (isClosed) socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const cutConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `${certificate === null ? 'http' : 'https'}://127.0.0.1:${own}`,
    ca: certificate?.cert ?? null,
    cutConnections,
    async close() {
      isClosed = true;
      const closed = new Promise((resolve) => server.close(resolve));
      cutConnections();
      await closed;
    },
  };
}

/** Signed by itself: the server is its own authority. */
export async function newCertificate(): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'playground kubernetes' }], {
    keyType: 'ec',
    notAfterDate: new Date(Date.now() + YEARS_10),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 7, ip: '127.0.0.1' },
          { type: 2, value: 'localhost' },
        ],
      },
    ],
  });
  return { key, cert };
}

const YEARS_10 = 10 * 365 * 24 * 60 * 60_000;
