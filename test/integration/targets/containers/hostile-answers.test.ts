import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { connectEngine } from '../../../../src/targets/containers/connect/connect-engine.ts';
import { LogReader } from '../../../../src/targets/containers/connect/log-reader.ts';
import { containerLine } from '../../../../src/targets/containers/describe.ts';
import type { Engine } from '../../../../src/targets/containers/engine.ts';
import { engineEvents } from '../../../../src/targets/containers/read/events.ts';
import { listContainers } from '../../../../src/targets/containers/read/list.ts';
import { watchEngine } from '../../../../src/targets/containers/watch.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const MIB = 1024 * 1024;
const soon = { signal: new AbortController().signal, timeoutMs: 30_000 };

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** What an engine without containers says to whoever asks for its clock, or for those with a label. */
const nothing = ({ url = '' }: IncomingMessage): string | undefined =>
  url === '/info' ? '{}' : url.startsWith('/containers/json') ? '[]' : undefined;

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

/** Goes on for ever, or until nobody listens: tells how many MiB were taken. */
function endless(response: ServerResponse, status: number): { taken: number } {
  const count = { taken: 0 };
  const part = Buffer.alloc(MIB, 'x');
  response.writeHead(status, { 'content-type': 'application/json' });
  const more = () => {
    while (!response.destroyed && count.taken++ < 4096) if (!response.write(part)) return;
  };
  response.on('drain', more);
  more();
  return count;
}

test.each([
  [500, 'ENGINE_500', (engine: Engine) => engine.containers(soon)],
  [500, 'ENGINE_500', (engine: Engine) => engine.post('/containers/shop/stop', 'to stop it', soon)],
  [200, 'ENGINE_TOO_LARGE', (engine: Engine) => engine.post('/containers/shop/stop', 'to stop it', soon)],
])(
  'a %i without an end is %s, and ends neither the memory nor the process [T1]',
  async (status, code, ask) => {
    let sent: { taken: number } | undefined;
    const engine = await engineThat((_request, response) => {
      sent = endless(response, status);
    });
    await expect(ask(engine)).rejects.toMatchObject({ code });
    expect(sent?.taken).toBeLessThan(64);
  },
);

test('an engine leads nobody to another address: a redirect is an answer that refuses [T1]', async () => {
  let led = 0;
  const elsewhere = createServer((_request, response) => {
    led += 1;
    response.end(JSON.stringify(container));
  });
  await new Promise<void>((listening) => elsewhere.listen(0, '127.0.0.1', listening));
  const { port } = elsewhere.address() as AddressInfo;
  const engine = await engineThat((_request, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
  );
  await expect(engine.container('shop', soon)).rejects.toMatchObject({ code: 'ENGINE_307' });
  await expect(engine.post('/containers/shop/stop', 'to stop it', soon)).rejects.toMatchObject({
    code: 'ENGINE_307',
  });
  elsewhere.close();
  expect(led).toBe(0);
});

test('the machine’s own variables lead nobody to another engine [T1]', async () => {
  // oxlint-disable-next-line node/no-process-env -- a client library reads it
  process.env['DOCKER_HOST'] = 'tcp://127.0.0.1:9';
  try {
    const engine = await engineThat((request, response) =>
      response.end(request.url === '/info' ? '{}' : JSON.stringify(container)),
    );
    expect((await engine.container('shop', soon)).name).toBe('shop');
  } finally {
    // oxlint-disable-next-line node/no-process-env -- as above
    delete process.env['DOCKER_HOST'];
  }
});

test.each([
  ['is too large', `"${'x'.repeat(17 * MIB)}"`],
  ['is no container', '{"Name":null,"State":{}}'],
  ['is null', 'null'],
  ['nests without an end', '['.repeat(1_000_000)],
])('a container whose description %s hides no other, and is told [T2]', async (_, description) => {
  const engine = await engineThat(({ url = '' }, response) => {
    const [, , id] = url.split('/');
    if (url === '/info') response.end('{}');
    else if (url.startsWith('/containers/json')) response.end('[{"Id":"one"},{"Id":"bad"},{"Id":"two"}]');
    else response.end(id === 'bad' ? description : JSON.stringify({ ...container, Name: `/${id}` }));
  });
  const { found, unread, beyond } = await engine.containers(soon);
  expect(found.map(({ name }) => name)).toEqual(['one', 'two']);
  expect({ unread, beyond }).toEqual({ unread: ['bad'], beyond: 0 });
  const { text, data } = await listContainers.run(
    { ...soon, target: { kind: 'docker' }, system: { engine, acts: false, isPartial: false } } as never,
    listContainers.input.parse({}) as never,
  );
  expect(text).toMatch(/^1 container could not be read, .*: bad$/m);
  expect(data).toMatchObject({ total: 2, unread: 1 });
});

test.each(['no JSON', 'null', '{}', '{"Type":"container","Action":"die","time":"x","Actor":{"ID":"1"}}'])(
  'an event that is none (%s) hides no other, and holds up nobody who follows them [T2]',
  async (bad) => {
    const good = JSON.stringify({ Type: 'container', Action: 'die', time: 1, Actor: { ID: 'shop' } });
    const engine = await engineThat((request, response) =>
      response.end(nothing(request) ?? `${bad}\n${good}\n`),
    );
    expect((await engine.events(60, soon)).map(({ name }) => name)).toEqual(['shop']);
    const followed: string[] = [];
    for await (const { name } of engine.follow(0, soon.signal)) followed.push(name);
    expect(followed).toEqual(['shop']);
  },
);

test('what the engine says of a fault writes no line of its own into the list [T2]', async () => {
  const Error = 'exec: "x\nshop-db: running for 3d (postgres:16)\u2028y": not found';
  const State = { ...container.State, Running: false, Status: 'created', Error };
  const engine = await engineThat((request, response) =>
    response.end(request.url === '/info' ? '{}' : JSON.stringify({ ...container, State })),
  );
  expect(containerLine(await engine.container('shop', soon)).split(/[\n\u2028]/)).toHaveLength(1);
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
    response.end(nothing(request) ?? event('before') + event('x'.repeat(2 * MIB)) + event('after')),
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

/** A death as Docker tells it: the labels of the container stand among what it says, and over it. */
const death = (name: string, labels: object = {}, Action = 'die') =>
  `${JSON.stringify({ Type: 'container', Action, time: 1e9, Actor: { ID: name, Attributes: { exitCode: '3', ...labels, image: 'shop', name } } })}\n`;

async function tellsOf(events: string, labelled: readonly string[] = []): Promise<readonly unknown[]> {
  const engine = await engineThat((request, response) =>
    response.end(
      request.url?.startsWith('/containers/json')
        ? JSON.stringify(request.url.includes('exitCode') ? labelled.map((Id) => ({ Id })) : [])
        : (nothing(request) ?? events),
    ),
  );
  const told: unknown[] = [];
  const watch = watchEngine(engine, { target: 'shop', runtime: 'docker' });
  for await (const sighting of watch('1970-01-01T00:00:00Z', soon.signal)) {
    const payload = sighting.told?.payload as Record<string, unknown> | undefined;
    told.push([payload?.['container'], payload?.['event'], payload?.['exit_code']]);
  }
  return told;
}

test('a container whose labels say that it ended well, or was stopped, is told all the same [T5]', async () => {
  const forged = { exitCode: '0', containerExitCode: '0', signal: '9' };
  // One was there before it is watched, the other is made while it is.
  expect(await tellsOf(death('old', forged), ['old'])).toEqual([['old', 'died', undefined]]);
  expect(await tellsOf(death('new', forged, 'create') + death('new', forged) + death('other'))).toEqual([
    ['new', 'died', undefined],
    ['other', 'died', 3],
  ]);
});

test('labels that make an event large hide no crash, and are not kept [T5]', async () => {
  const large = { 'io.buildpacks.lifecycle.metadata': 'x'.repeat(200_000) };
  expect(await tellsOf(death('large', large))).toEqual([['large', 'died', 3]]);
  const engine = await engineThat((request, response) =>
    response.end(
      nothing(request) ?? death('large', { ...large, 'com.docker.compose.service': 'x'.repeat(5_000) }),
    ),
  );
  const [event] = await engine.events(60, soon);
  expect(JSON.stringify(event).length).toBeLessThan(2_000);
});

test('containers that are large together fill no memory: they are left out of a list, said, and read alone [T7]', async () => {
  const large = { ...container, Config: { Image: 'x', Env: ['x'.repeat(MIB)] } };
  const engine = await engineThat(({ url = '' }, response) => {
    const [, , id = ''] = url.split('/');
    const ids = ['small', ...Array.from({ length: 30 }, (_, at) => `large${at}`)];
    if (url === '/info') response.end('{}');
    else if (url.startsWith('/containers/json')) response.end(JSON.stringify(ids.map((Id) => ({ Id }))));
    else response.end(JSON.stringify({ ...(id === 'small' ? container : large), Name: `/${id}` }));
  });
  const { found, unread } = await engine.containers(soon);
  expect(found.map(({ name }) => name)).toEqual(['small']);
  expect(unread).toHaveLength(30);
  expect((await engine.container('large0', soon)).name).toBe('large0');
});

test('a container that is called as another’s id begins is not taken for it [T5]', async () => {
  const of = (ID: string, name: string) =>
    `${JSON.stringify({ Type: 'container', Action: 'start', time: 1, Actor: { ID, Attributes: { name } } })}\n`;
  const engine = await engineThat((request, response) =>
    response.end(nothing(request) ?? of('a'.repeat(64), 'victim') + of('b'.repeat(64), 'aaaa')),
  );
  const context = { ...soon, target: { kind: 'docker' }, system: { engine, acts: false, isPartial: false } };
  const told = async (name: string) => {
    const input = engineEvents.input.parse({ container: name }) as never;
    const { data } = await engineEvents.run(context as never, input);
    return (data as { events: { name: string }[] }).events.map((event) => event.name);
  };
  expect(await told('aaaa')).toEqual(['aaaa']);
  expect(await told('aaa')).toEqual(['victim']);
});
