import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { OpsError } from '../../core/errors.ts';

/**
 * Below the ports that systems hand to outgoing connections by themselves (Linux 32768–60999, see ip_local_port_range;
 * macOS and Windows from 49152): a port from there may be an outgoing connection's a moment later, and the server that
 * it was chosen for cannot listen.
 */
const LOWEST = 20_000;
const HIGHEST = 32_767;
const ATTEMPTS = 200;

/** What this process has chosen already: a server may start long after its port was chosen. */
const promised = new Set<number>();

/** Keeps `freePort` from choosing a port that somebody has asked for and that nothing listens on yet. */
export function reservePort(port: number): void {
  promised.add(port);
}

/** Whether something could listen on this port of 127.0.0.1 right now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/**
 * A port of 127.0.0.1 that was free a moment ago and that this process has chosen for nothing else.
 *
 * @throws OpsError `NO_FREE_PORT`
 */
export async function freePort(): Promise<number> {
  const ports = HIGHEST - LOWEST + 1;
  const first = randomInt(ports);
  let tried = 0;
  for (let step = 0; step < ports && tried < ATTEMPTS; step += 1) {
    const port = LOWEST + ((first + step) % ports);
    if (promised.has(port)) continue;
    tried += 1;
    promised.add(port);
    if (await isPortFree(port)) return port;
  }
  throw new OpsError('NO_FREE_PORT', `No port from ${LOWEST} to ${HIGHEST} of 127.0.0.1 seems to be free.`, {
    hint: 'See what listens there (ss -ltn), or name the ports yourself.',
  });
}

/** The wanted port when it is free, else another one; `moved` says that it is another. */
export async function choosePort(wanted: number | undefined): Promise<{ port: number; moved: boolean }> {
  if (wanted === undefined) return { port: await freePort(), moved: false };
  if (await isPortFree(wanted)) {
    promised.add(wanted);
    return { port: wanted, moved: false };
  }
  return { port: await freePort(), moved: true };
}
