import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { bridgeStdio } from '../../../src/mcp/stdio-bridge.ts';
import { quiet } from '../../support/quiet.ts';

// The bot, as far as the bridge sees it.
let bot: Server;
let url: URL;
let status = 200;

beforeAll(async () => {
  bot = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { id } = JSON.parse(body) as { readonly id?: number };
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(status === 200 ? JSON.stringify({ jsonrpc: '2.0', id, result: {} }) : '{"error":"no"}');
    });
  });
  await new Promise<void>((done) => bot.listen(0, '127.0.0.1', done));
  url = new URL(`http://127.0.0.1:${(bot.address() as AddressInfo).port}/mcp`);
});

afterAll(async () => {
  bot.closeAllConnections();
  await new Promise((done) => bot.close(done));
});

beforeEach(() => {
  status = 200;
});

function bridge() {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const answers: { readonly id: number; readonly error?: { readonly message: string } }[] = [];
  stdout.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split('\n')) answers.push(JSON.parse(line));
  });
  const ended = bridgeStdio({ url, secret: 'x', log: quiet, stdin, stdout });
  return { stdin, stdout, answers, ended };
}

const ping = (id: number): string => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`;

it('answers what is asked, whatever else stands on stdin, and ends with it', async () => {
  const { stdin, answers, ended } = bridge();
  stdin.write('no json\n\n[1]\n{"jsonrpc":"2.0"}\n');
  stdin.write(ping(1));
  stdin.end(ping(2));
  await ended;
  expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([1, 2]));
});

it('ends when a line has no end: its client must not wait for what is never read', async () => {
  const { stdin, ended } = bridge();
  stdin.write('x'.repeat(11 * 1024 * 1024));
  await ended;
});

it('ends when nobody reads its answers any more', async () => {
  const { stdin, stdout, ended } = bridge();
  stdout.destroy(new Error('EPIPE'));
  stdin.write(ping(1));
  await ended;
});

it.each([
  [401, /does not take this secret/],
  [403, /SENTRY_HTTP_HOSTS/],
  [413, /answered 413/],
  [503, /answered 503/],
])('says what is wrong where the bot answers %d', async (answered, said) => {
  status = answered;
  const { stdin, answers, ended } = bridge();
  stdin.end(ping(1));
  await ended;
  expect(answers).toMatchObject([{ id: 1, error: { message: expect.stringMatching(said) } }]);
  expect(answers[0]?.error?.message).not.toContain('sentry start');
});
