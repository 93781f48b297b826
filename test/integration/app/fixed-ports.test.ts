import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixedPort, rememberedPort } from '../../../src/app/fixed-ports.ts';
import { freePort } from '../../../src/infra/process/free-port.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

let dir: string;
let said: string[];
let servers: Server[];
const say = (line: string): void => void said.push(line);

/** Somebody else's server. */
async function occupied(): Promise<number> {
  const port = await freePort();
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return port;
}

const free = (): Promise<number> => freePort();

beforeEach(() => {
  dir = scratchDir();
  said = [];
  servers = [];
});

afterEach(() => Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve)))));

describe('a port', () => {
  it('that was asked for is used, also when another one is remembered [B9] [S-claims]', async () => {
    const [last, asked] = [await free(), await free()];
    await fixedPort(dir, 'slack', { port: last, say });
    expect(rememberedPort(dir, 'slack')).toBe(last);
    const port = await fixedPort(dir, 'slack', { port: asked, askedBy: 'SENTRY_PLAYGROUND_PORT', say });
    expect(port).toBe(asked);
    expect(rememberedPort(dir, 'slack')).toBe(asked);
    expect(said).toEqual([]);
  });

  it('that was asked for and is taken is refused, in words [B9]', async () => {
    const port = await occupied();
    const asking = fixedPort(dir, 'slack', { port, askedBy: 'SENTRY_PLAYGROUND_PORT', say });
    await expect(asking).rejects.toMatchObject({
      code: 'PORT_TAKEN',
      message: `Port ${port} (SENTRY_PLAYGROUND_PORT) is taken by another program.`,
      hint: 'Stop that program, or set SENTRY_PLAYGROUND_PORT to another port; 0 takes a free one.',
    });
    expect(rememberedPort(dir, 'slack')).toBeUndefined();
  });

  it('that is only the usual one, and taken, gives way to another, and that is said [B9]', async () => {
    const usual = await occupied();
    const port = await fixedPort(dir, 'slack', { port: usual, say });
    expect(port).not.toBe(usual);
    expect(said).toEqual([`Port ${usual} is taken: using ${port}`]);
    // The next start has the bookmarked one, and nothing to say.
    expect(await fixedPort(dir, 'slack', { port: usual, say })).toBe(port);
    expect(said).toHaveLength(1);
  });

  it('that is remembered is not taken from whom it was asked for [B9]', async () => {
    const asked = await free();
    await fixedPort(dir, 'slack', { port: asked, say });
    const port = await fixedPort(dir, 'slack', { port: await free(), others: [asked], say });
    expect(port).not.toBe(asked);
  });

  it('of which any will do is a free one, which stays [B9]', async () => {
    const port = await fixedPort(dir, 'http', { port: 0, say });
    expect(await fixedPort(dir, 'http', { port: 0, say })).toBe(port);
    expect(said).toEqual([]);
  });
});
