import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jsonOf } from '../../../src/core/json-of.ts';
import { createMcpConnection, type McpConnection } from '../../../src/tools/mcp/connection.ts';
import type { McpServerConfig } from '../../../src/tools/mcp/server-config.ts';
import { quiet } from '../../support/quiet.ts';
import { waitFor } from '../../support/wait-for.ts';

// A server over streamable HTTP, as a test sees it: which secret came, and whatever is wanted as an answer.
const limits = { timeoutMs: 5_000, signal: new AbortController().signal };
let http: Server;
let url: string;
let connection: McpConnection;
let seen: (string | undefined)[] = [];
let pages = 0;
let streams = 0;
/** What its own questions were answered; none of these answers is taken. */
let answered: unknown[] = [];
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

const said = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

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
        | { id?: number; method?: string; params?: Record<string, unknown> }
        | undefined;
      if (request.method !== 'POST' || !message) return response.writeHead(405).end();
      if (message.method === undefined) return answered.push(message);
      if (message.method === silentOn) return undefined;
      const { asks = 0 } = (message.params?.['arguments'] ?? {}) as { asks?: number };
      if (asks > 0) {
        const stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let id = 1; id <= asks; id += 1) stream.write(said({ id, method: 'ping' }));
        return stream.end(said({ id: message.id, result: { content: [{ type: 'text', text: 'done' }] } }));
      }
      if (message.id === undefined) return response.writeHead(202).end();
      const result = answers[message.method]?.(message.params ?? {});
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

it('that asks again and again is answered one question at a time, and called all the same [T6]', async () => {
  answered = [];
  const asking = createMcpConnection(entry(), { log: quiet });
  const { content } = await asking.call('look', { asks: 100 }, limits);
  expect(content).toEqual([{ type: 'text', text: 'done' }]);
  await waitFor('an answer', async () => answered.length > 0);
  await asking.call('look', { bytes: 1 }, limits);
  expect(answered).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  await asking.close();
});

it('that asks without an end is let go, and opens no connection for each question [T6]', async () => {
  answered = [];
  const asking = createMcpConnection(entry(), { log: quiet });
  await expect(asking.call('look', { asks: 2_000 }, limits)).rejects.toMatchObject({ code: 'MCP_LOST' });
  await expect(asking.call('look', { bytes: 1 }, limits)).rejects.toMatchObject({ code: 'MCP_DOWN' });
  expect(answered.length).toBeLessThan(2);
  await asking.close();
});

// Lines that are no messages cost as much as those that are.
it.each([['{"jsonrpc":"2.0","id":1,"method":"ping"}'], ['no message']])(
  'that is a program and says %s for ever is ended [T6]',
  async (line) => {
    const program = `
      const say = (message) => process.stdout.write(message + '\\n');
      const flood = () => process.stdout.write(${JSON.stringify(`${line}\n`)}.repeat(1000), () => setImmediate(flood));
      process.stdin.once('data', (hello) => {
        const { id, params: { protocolVersion } } = JSON.parse(hello);
        const serverInfo = { name: 'x', version: '1' };
        say(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion, capabilities: {}, serverInfo } }));
        // It reads no answer.
        process.stdin.pause();
        flood();
      });`;
    const transport = { kind: 'stdio', command: process.execPath, args: ['-e', program], env: {} } as const;
    const reasons: unknown[] = [];
    const log = { ...quiet, warn: (said: object) => reasons.push((said as { why: string }).why) };
    const flooding = createMcpConnection({ ...entry(), transport }, { log });
    await expect(flooding.tools(limits.signal)).rejects.toMatchObject({ code: 'MCP_DOWN' });
    expect(reasons).toEqual([expect.stringContaining('unasked')]);
    await flooding.close();
  },
);
