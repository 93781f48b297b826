import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jsonOf } from '../../../src/core/json-of.ts';
import { createMcpConnection, type McpConnection } from '../../../src/tools/mcp/connection.ts';
import type { McpServerConfig } from '../../../src/tools/mcp/server-config.ts';
import { quiet } from '../../support/quiet.ts';

// A server over streamable HTTP, as a test sees it: which secret came, and whatever is wanted as an answer.
const limits = { timeoutMs: 5_000, signal: new AbortController().signal };
let http: Server;
let url: string;
let connection: McpConnection;
let seen: (string | undefined)[] = [];
let pages = 0;
let streams = 0;
/** What it leaves unanswered. */
let silentOn: string | undefined;

const answers: Record<string, (params: Record<string, unknown>) => unknown> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'afar', version: '1' },
  }),
  'tools/list': () => {
    pages += 1;
    return { tools: [{ name: 'look', inputSchema: { type: 'object' } }], nextCursor: String(pages) };
  },
  'tools/call': ({ arguments: given }) => ({
    content: [{ type: 'text', text: 'x'.repeat(Number((given as { bytes: number }).bytes)) }],
  }),
};

const entry = (changes: Partial<McpServerConfig['transport']> = {}): McpServerConfig => ({
  name: 'afar',
  transport: { kind: 'http', url, headers: { Authorization: 'Bearer of-a-test' }, ...changes } as never,
  read: ['look'],
  act: [],
  timeoutMs: 5_000,
});

beforeAll(async () => {
  http = createServer((request, response) => {
    seen.push(request.headers.authorization);
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      if (request.url === '/elsewhere')
        return response.writeHead(307, { location: url.replace('127.0.0.1', 'localhost') }).end();
      if (request.method === 'GET') {
        streams += 1;
        return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n');
      }
      const message = jsonOf(body) as
        | { id?: number; method: string; params: Record<string, unknown> }
        | undefined;
      if (request.method !== 'POST' || !message) return response.writeHead(405).end();
      if (message.method === silentOn) return undefined;
      if (message.id === undefined) return response.writeHead(202).end();
      const result = answers[message.method]?.(message.params);
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  connection = createMcpConnection(entry(), { log: quiet });
});

afterAll(async () => {
  await connection.close();
  http.closeAllConnections();
  await new Promise((done) => http.close(done));
});

it('is sent its header with every request', async () => {
  const { content } = await connection.call('look', { bytes: 5 }, limits);
  expect(content).toEqual([{ type: 'text', text: 'xxxxx' }]);
  expect(new Set(seen)).toEqual(new Set(['Bearer of-a-test']));
});

it('whose answer is over the limit is cut off', async () => {
  await expect(connection.call('look', { bytes: 6_000_000 }, limits)).rejects.toMatchObject({
    code: 'MCP_LOST',
  });
});

it('whose list of tools never ends is not listened to for ever', async () => {
  const endless = createMcpConnection(entry(), { log: quiet });
  await expect(endless.tools(limits.signal)).rejects.toMatchObject({ code: 'MCP_DOWN' });
  expect(pages).toBeLessThan(50);
  await endless.close();
});

it('that sends its clients elsewhere is not followed there, least of all with a secret', async () => {
  seen = [];
  const sent = createMcpConnection(entry({ url: url.replace('/mcp', '/elsewhere') }), { log: quiet });
  await expect(sent.tools(limits.signal)).rejects.toMatchObject({ code: 'MCP_DOWN' });
  expect(seen).toHaveLength(1);
  await sent.close();
});

it('is not listened to but for answers: a stream that ends at once is not opened again and again', async () => {
  streams = 0;
  const other = createMcpConnection(entry(), { log: quiet });
  for (let at = 0; at < 5; at += 1) await other.call('look', { bytes: at }, limits);
  expect(streams).toBe(0);
  await other.close();
});

it('that never finishes saying hello is given up, and is there again', async () => {
  silentOn = 'notifications/initialized';
  let time = 0;
  const slow = createMcpConnection(entry(), { log: quiet, now: () => time, connectMs: 300 });
  await expect(slow.call('look', { bytes: 1 }, limits)).rejects.toMatchObject({ code: 'MCP_DOWN' });
  silentOn = undefined;
  time += 60_000;
  expect((await slow.call('look', { bytes: 1 }, limits)).content).toHaveLength(1);
  await slow.close();
});
