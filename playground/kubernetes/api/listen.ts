import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';

export interface Listening {
  readonly url: string;
  /** The certificate that clients are to trust; null without TLS. */
  readonly ca: string | null;
  /** Ends every connection. */
  cutConnections(): void;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback. kubectl sends a token over TLS only. */
export async function listen(handler: RequestListener, tls: boolean, port: number): Promise<Listening> {
  const certificate = tls ? await ownCertificate() : null;
  const server =
    certificate === null
      ? createHttpServer(handler)
      : createHttpsServer({ key: certificate.private, cert: certificate.cert }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${own}`,
    ca: certificate?.cert ?? null,
    cutConnections: () => server.closeAllConnections(),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** For this server alone, and for a day: it signs itself, so it is its own authority. */
const ownCertificate = () =>
  generate([{ name: 'commonName', value: 'playground kubernetes' }], {
    keyType: 'ec',
    notAfterDate: new Date(Date.now() + 30 * 24 * 60 * 60_000),
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
