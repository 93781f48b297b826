import { connect } from 'node:net';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { PortState } from '../system.ts';

/** This machine, by both families: a service need not listen on all of its addresses. */
const ADDRESSES = ['127.0.0.1', '::1'];
/** A local connection that takes longer is one that nobody takes. */
const PATIENCE_MS = 3_000;

/** Whether somebody takes connections at a port of this machine. It is closed again at once, and nothing is sent. */
export async function reachPort(port: number, { timeoutMs, signal }: SessionOptions): Promise<PortState> {
  const refused: string[] = [];
  for (const address of ADDRESSES) {
    const code = await tryAt(port, address, Math.min(PATIENCE_MS, timeoutMs / 3), signal);
    if (code === null) return { port, reachable: true, says: `port ${port} takes connections at ${address}` };
    refused.push(`${address} ${code}`);
  }
  return { port, reachable: false, says: `nobody takes connections at port ${port} (${refused.join(', ')})` };
}

/** Null: it was taken; else the code of the failure. Rejects when the caller gave up. */
function tryAt(port: number, host: string, patienceMs: number, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ port, host, signal });
    const end = (code: string | null): void => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(patienceMs, () => end('ETIMEDOUT'));
    socket.once('connect', () => end(null));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      signal.aborted ? reject(error) : end(error.code ?? 'not told'),
    );
  });
}
