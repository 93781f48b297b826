import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fetchDocs } from '../../../../src/safety/urls/fetch-docs.ts';
import { type LocalDns, localDns } from '../../../support/local-dns.ts';
import { type HostRig, hostRig } from './host-rig.ts';

const PUBLIC = '151.101.0.223';
let rig: HostRig;
let dns: LocalDns;
let addresses: (name: string, count: number) => readonly string[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let dialled: string[];
const server = createServer((request, response) => answer(request, response));

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  dns = await localDns((name, count) => addresses(name, count));
  const hosts = ['docs.example.com', 'docs.python.org'];
  rig = await hostRig({
    docs: {
      hosts,
      fetch: (url, { signal, timeoutMs }) =>
        fetchDocs(url, {
          allow: hosts,
          signal,
          timeoutMs: Math.min(timeoutMs, 1_500),
          maxBytes: 100_000,
          resolve: dns.resolve,
          // The one seam: whatever address was pinned, the socket goes to this test's server.
          connector: (pinned) => (_options, done) => {
            dialled.push(pinned.address);
            const socket = connect(port, '127.0.0.1', () => done(null, socket));
            socket.once('error', (error) => done(error, null));
          },
        }),
    },
  });
});
beforeEach(() => {
  dialled = [];
  dns.asked.length = 0;
  addresses = () => [PUBLIC];
  answer = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Pools</h1><script>x()</script>');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  dns.stop();
  await rig.stop();
});

const fetched = (url: string, role: 'detective' | 'triage' | 'validator' = 'detective') =>
  rig.call(role, 'fetch_docs', { url });
const redirectTo = (location: string): void => {
  answer = (request, response) =>
    request.url === '/start'
      ? response.writeHead(302, { location }).end()
      : response.writeHead(200, { 'content-type': 'text/plain' }).end('reached');
};

test('reads an allowed page as text, on record', async () => {
  expect(await fetched('https://docs.example.com/pools', 'triage')).toMatchObject({
    kind: 'ok',
    data: { url: 'https://docs.example.com/pools', text: 'Pools' },
  });
  expect(dialled).toEqual([PUBLIC]);
});

test('the validator and the surgeon may not', async () => {
  expect(await fetched('https://docs.example.com/', 'validator')).toMatchObject({ code: 'ROLE_MAY_NOT' });
});

test.each([
  'http://docs.example.com/',
  'https://evil.example/',
  'https://docs.example.com.evil.example/',
  'https://evil-docs.example.com@evil.example/',
  'https://user:pass@docs.example.com/',
  'https://docs.example.com:8443/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[::1]/',
  'https://2852039166/',
  'https://docs.example.com\\@evil.example/',
  'file:///etc/passwd',
])('refuses %s before any name is asked for', async (url) => {
  expect((await fetched(url)).kind).toBe('refused');
  expect(dns.asked).toEqual([]);
});

test.each([
  'http://169.254.169.254/latest/meta-data/',
  'https://169.254.169.254/latest/meta-data/',
  'https://evil.example/',
  '//evil.example/',
  'http://docs.example.com/plain',
  'file:///etc/passwd',
])('follows no redirect to %s', async (location) => {
  redirectTo(location);
  const result = await fetched('https://docs.example.com/start');
  expect(result.kind).toBe('failed');
  expect(JSON.stringify(result)).not.toContain('reached');
  expect(dialled).toEqual([PUBLIC]);
});

test('follows one to another allowed page, whose address is looked up and judged anew', async () => {
  redirectTo('https://docs.python.org/3/');
  expect(await fetched('https://docs.example.com/start')).toMatchObject({
    kind: 'ok',
    data: { text: 'reached' },
  });
  addresses = (name) => [name === 'docs.python.org' ? '10.0.0.7' : PUBLIC];
  expect(await fetched('https://docs.example.com/start')).toMatchObject({
    kind: 'failed',
    code: 'URL_PRIVATE',
  });
});

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '192.168.0.1',
  '172.16.9.9',
  '169.254.169.254',
  '100.100.100.200',
  '0.0.0.0',
])('a name that leads to %s is not asked for anything', async (address) => {
  addresses = () => [PUBLIC, address];
  expect(await fetched('https://docs.example.com/')).toMatchObject({ kind: 'failed', code: 'URL_PRIVATE' });
  expect(dialled).toEqual([]);
});

test('a name that changes its address between the check and the request changes nothing', async () => {
  addresses = (_name, count) => [count === 0 ? PUBLIC : '127.0.0.1'];
  expect((await fetched('https://docs.example.com/')).kind).toBe('ok');
  // Asked once: the connection goes to the address that was judged.
  expect(dns.asked).toEqual(['docs.example.com']);
  expect(dialled).toEqual([PUBLIC]);
});

test.each<[string, (response: ServerResponse) => void, string]>([
  [
    'a body without end',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(timer));
    },
    'URL_TOO_LARGE',
  ],
  [
    'a length that says too much',
    (response) =>
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '99999999' }).end(),
    'URL_TOO_LARGE',
  ],
  [
    'a compressed bomb',
    (response) =>
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end('x'),
    'URL_CONTENT_TYPE',
  ],
  [
    'a program',
    (response) => response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('x'),
    'URL_CONTENT_TYPE',
  ],
  [
    'a drip of bytes',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(timer));
    },
    'URL_TIMEOUT',
  ],
])('ends %s', async (_what, reply, code) => {
  answer = (_, response) => reply(response);
  expect(await fetched('https://docs.example.com/')).toMatchObject({ kind: 'failed', code });
});

test('no secret is carried out in an address, however it is written', async () => {
  const token = ['xoxb', '1234567890', 'abcdefghijklmnop'].join('-');
  for (const url of [
    `https://docs.example.com/?q=${token}`,
    `https://docs.example.com/${token}`,
    `https://docs.example.com/?q=${token.replaceAll('-', '%2d')}`,
  ])
    expect(await fetched(url)).toMatchObject({ kind: 'refused' });
  expect(dialled).toEqual([]);
});
