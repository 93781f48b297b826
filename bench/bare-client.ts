import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A sender gives an alert up after so many. */
const TRIES = 8;

/**
 * One keep-alive connection that posts JSON, as cheaply as can be: node's own client costs as much as the server it
 * measures, and takes the time from it on a machine with two cores.
 */
export interface BareClient {
  /** Resolves with the status when the whole answer is here. One at a time. */
  post(body: string): Promise<number>;
  close(): void;
}

export async function openBareClient(options: {
  readonly port: number;
  readonly path: string;
  readonly bearer: string;
  /** Where it calls from: one of 127.0.0.0/8, so that each has a rate of its own. */
  readonly from?: string;
}): Promise<BareClient> {
  let socket = await opened(options.port, options.from);
  const head = `POST ${options.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer ${options.bearer}\r\ncontent-length: `;
  let text = '';
  let pending: { resolve: (status: number) => void; reject: (error: Error) => void } | undefined;
  const read = (chunk: string): void => {
    text += chunk;
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length < end + 4 + length) return;
    const status = Number(text.slice(9, 12));
    text = '';
    pending?.resolve(status);
  };
  const broken = (error?: Error): void =>
    pending?.reject(error ?? new Error('the server closed the connection'));
  const listen = (): void => {
    socket.setEncoding('latin1');
    socket.on('data', read);
    socket.on('error', broken);
    socket.on('close', () => broken());
  };
  listen();
  return {
    async post(body) {
      // A server closes what has said nothing for seconds.
      if (socket.destroyed || socket.readableEnded) {
        socket = await opened(options.port, options.from);
        listen();
      }
      return new Promise((resolve, reject) => {
        pending = { resolve, reject };
        socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
      });
    },
    close: () => socket.destroy(),
  };
}

/** As real senders do: what is answered 503 is sent again, a little later each time. Answers the last status. */
export async function deliver(
  client: BareClient,
  body: string,
  answered: (status: number, ms: number) => void,
): Promise<number> {
  for (let tries = 1; ; tries++) {
    const from = performance.now();
    const status = await client.post(body);
    answered(status, performance.now() - from);
    if (status !== 503 || tries === TRIES) return status;
    await sleep(tries * 500);
  }
}

function opened(port: number, from?: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        port,
        host: '127.0.0.1',
        noDelay: true,
        ...(from === undefined ? {} : { localAddress: from }),
      },
      () => resolve(socket),
    );
    socket.once('error', reject);
  });
}
