import { createServer, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { connectEngine } from '../../../../src/targets/containers/connect/connect-engine.ts';
import { LogReader } from '../../../../src/targets/containers/connect/log-reader.ts';
import type { Engine } from '../../../../src/targets/containers/engine.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const MIB = 1024 * 1024;
const soon = { signal: new AbortController().signal, timeoutMs: 30_000 };

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** An engine on a socket that answers as told. */
async function engineThat(answers: RequestListener): Promise<Engine> {
  const socket = join(scratchDir(), 'engine.sock');
  server = createServer(answers);
  await new Promise<void>((listening) => server?.listen(socket, listening));
  const ways = { identify: async () => 'one', tailsWell: true, tellsOom: true, only: {} };
  return connectEngine({ socket }, ways);
}

const container = {
  Id: 'a'.repeat(64),
  Name: '/shop',
  Created: '2026-01-01T00:00:00Z',
  Image: 'sha256:1',
  RestartCount: 0,
  State: {
    Status: 'running',
    Running: true,
    StartedAt: '2026-01-01T00:00:00Z',
    FinishedAt: '0001-01-01T00:00:00Z',
  },
  HostConfig: {},
  Config: { Image: 'shop', Labels: {} },
};

test('an engine that once did not tell its clock is asked again, and its containers are read [F19]', async () => {
  let asked = 0;
  const engine = await engineThat((request, response) => {
    if (request.url === '/info' && asked++ === 0) return;
    response.end(
      JSON.stringify(request.url === '/info' ? { SystemTime: '2026-01-01T00:01:00Z' } : container),
    );
  });
  await engine.container('shop', { ...soon, timeoutMs: 200 }).catch(() => null);
  expect((await engine.container('shop', soon)).upSeconds).toBeCloseTo(60, -1);
  expect(asked).toBe(2);
});

test.each([
  ['a container', (engine: Engine) => engine.container('shop', soon)],
  ['the list of containers', (engine: Engine) => engine.containers(soon)],
  ['any other read', (engine: Engine) => engine.get('/networks', 'its networks', soon)],
])('%s: an answer that does not end is not taken into memory [F19]', async (_, ask) => {
  let sent = 0;
  const engine = await engineThat((_request, response) => {
    const part = Buffer.alloc(MIB, ' ');
    const more = () => {
      while (!response.destroyed && sent++ < 4096) if (!response.write(part)) return;
    };
    response.on('drain', more);
    more();
  });
  await expect(ask(engine)).rejects.toMatchObject({ code: 'ENGINE_TOO_LARGE' });
  expect(sent).toBeLessThan(64);
});

test('what is not JSON is said not to be the API of an engine', async () => {
  const engine = await engineThat((_request, response) => response.end('<html>'));
  await expect(engine.version(soon)).rejects.toMatchObject({ code: 'ENGINE_NO_API' });
});

test('an event that somebody made huge is left out, and those around it are told [F19]', async () => {
  const event = (name: string) =>
    `${JSON.stringify({ Type: 'container', Action: 'die', time: 1, timeNano: 1e9, Actor: { ID: 'x', Attributes: { name } } })}\n`;
  const engine = await engineThat((request, response) =>
    response.end(
      request.url === '/info' ? '{}' : event('before') + event('x'.repeat(2 * MIB)) + event('after'),
    ),
  );
  expect((await engine.events(60, soon)).map(({ name }) => name)).toEqual(['before', 'after']);
});

test('a line that does not end costs what is kept of it, on a terminal as without [F2]', () => {
  const terminal = new LogReader(true, 10);
  terminal.push(Buffer.from('2026-01-01T00:00:00Z first\r\n2026-01-01T00:00:01Z '));
  const part = Buffer.alloc(64 * 1024, 'x');
  for (let times = 0; times < 2_048; times += 1) terminal.push(part);
  terminal.push(Buffer.from('\r\n2026-01-01T00:00:02Z last'));
  const [first, endless, last] = terminal.lines();
  expect([first?.text, last?.text]).toEqual(['first', 'last']);
  expect(endless?.text).toMatch(/^x{2000}… \(\+\d{9} characters\)$/);
});

test('a frame longer than any is refused before it is waited for [F2]', () => {
  const header = Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
  expect(() => new LogReader(false, 10).push(header)).toThrow(
    expect.objectContaining({ code: 'ENGINE_NO_API' }),
  );
});
