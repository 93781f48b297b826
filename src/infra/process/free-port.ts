import { createServer } from 'node:net';

/** Whether something could listen on this port of 127.0.0.1 right now. */
function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** A port of 127.0.0.1 that was free a moment ago; another process may still take it first. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ port: 0, host: '127.0.0.1' }, () => {
      const address = probe.address();
      if (address === null || typeof address === 'string') return reject(new Error('no port was assigned'));
      probe.close(() => resolve(address.port));
    });
  });
}

/** The wanted port when it is free, else another one; `moved` says that it is another. */
export async function choosePort(wanted: number | undefined): Promise<{ port: number; moved: boolean }> {
  if (wanted === undefined) return { port: await freePort(), moved: false };
  if (await isPortFree(wanted)) return { port: wanted, moved: false };
  return { port: await freePort(), moved: true };
}
