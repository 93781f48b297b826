import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { clientAddress } from '../../../src/http/client-address.ts';
import { createRateLimit } from '../../../src/http/rate-limit.ts';
import { createHttpServer, type HttpServerOptions } from '../../../src/http/server.ts';
import { statusRoutes } from '../../../src/http/status-routes.ts';
import { type WebhookOptions, webhookRoute, webhookRoutes } from '../../../src/http/webhook-route.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { alertSource, alertSources } from '../../../src/sources/registry.ts';
import { acceptDatabase } from '../../support/accept-database.ts';
import { alertmanagerBody } from '../../support/alerts.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const lines: string[] = [];
const log = {
  debug: () => undefined,
  info: (_: object, message: string) => void lines.push(message),
  warn: (_: object, message: string) => void lines.push(message),
  error: (_: object, message: string) => void lines.push(message),
};

async function start(webhook: Partial<WebhookOptions> = {}, server: Partial<HttpServerOptions> = {}) {
  const metrics = new Registry();
  const routes = [
    webhookRoute({
      source: alertSource('alertmanager'),
      accept: async () => ({ kind: 'opened', incidentId: asIncidentId('INC-1') }),
      secret: 'correct horse',
      log,
      ...webhook,
    }),
    ...statusRoutes({ health: async () => [], metrics }),
  ];
  const http = createHttpServer({ host: '127.0.0.1', port: 0, routes, log, metrics, ...server });
  const { port } = await http.listen();
  closing.push(() => http.close(100));
  const url = `http://127.0.0.1:${port}`;
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/webhooks/alertmanager`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', authorization: 'Bearer correct horse', ...headers },
    });
  return { url, port, post };
}

const body = () => JSON.stringify(alertmanagerBody({ instance: 'a' }));

test('answers 202 with the incident once the alert is in the database', async () => {
  const db = await acceptDatabase();
  closing.push(() => db.close());
  const { post } = await start({ accept: createAccept(db.sql, [], domainOf) });
  const answer = await post(body());
  expect(answer.status).toBe(202);
  const [row] = await db.sql<Row>`SELECT id FROM incident`;
  expect(await answer.json()).toEqual({ accepted: [{ kind: 'opened', incident: row?.['id'] }] });
});

test('takes every alert of a group', async () => {
  const db = await acceptDatabase();
  closing.push(() => db.close());
  const { post } = await start({ accept: createAccept(db.sql, [], domainOf) });
  const alerts = ['a', 'b', 'c'].flatMap(
    (instance) => (alertmanagerBody({ instance }) as { alerts: object[] }).alerts,
  );
  const answer = await post(JSON.stringify({ alerts }));
  expect(answer.status).toBe(202);
  expect(await db.sql`SELECT FROM incident`).toHaveLength(3);
});

test('every source that calls us has a route, those read in Slack have none', () => {
  const routes = webhookRoutes({
    accept: () => Promise.reject(new Error('no')),
    secret: null,
    ownSecrets: new Map(),
    log,
  });
  const [calling, read] = ['webhook', 'slack'].map((way) =>
    alertSources.filter(({ arrives }) => arrives === way).map(({ name }) => `/webhooks/${name}`),
  );
  expect(routes.map(({ path }) => path)).toEqual(calling);
  expect(calling).toContain('/webhooks/alertmanager');
  expect(read).not.toEqual([]);
});

describe('the secret', () => {
  test.each([
    ['a bearer token', { authorization: 'bearer correct horse' }, 202],
    ['X-Sentry-Secret', { authorization: '', 'x-sentry-secret': 'correct horse' }, 202],
    ['a wrong token', { authorization: 'Bearer correct horsf' }, 401],
    ['a prefix', { authorization: 'Bearer correct' }, 401],
    ['the password of a URL', { authorization: `Basic ${btoa('sns:correct horse')}` }, 202],
    ['the name of a URL', { authorization: `Basic ${btoa('correct horse:')}` }, 401],
    ['nothing', { authorization: '' }, 401],
  ])('by %s is answered %#', async (_name, headers, status) => {
    const { post } = await start();
    expect((await post(body(), headers)).status).toBe(status);
  });

  test('is not needed on this machine when none is configured', async () => {
    const { post } = await start({ secret: null });
    expect((await post(body(), { authorization: '' })).status).toBe(202);
  });

  test('is demanded from other machines when none is configured', () => {
    const route = webhookRoute({
      source: alertSource('alertmanager'),
      accept: () => Promise.reject(new Error('no')),
      secret: null,
      log,
    });
    const head = {
      method: 'POST',
      path: '/',
      query: new URLSearchParams(),
      headers: {},
      host: null,
      peer: '10.0.0.9',
      isLoopback: false,
    };
    expect(route.admit?.(head)).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining('SENTRY_WEBHOOK_SECRET') },
    });
  });
});

describe('bad requests', () => {
  test.each([
    ['not JSON', '{', {}, 400],
    ['the wrong shape', '{"alerts":[{}]}', {}, 400],
    ['a form of no alert', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 400],
    ['too much', ' '.repeat(4 * 1024 * 1024 + 1), {}, 413],
  ])('%s is refused', async (_name, text, headers, status) => {
    const { post } = await start();
    expect((await post(text, headers)).status).toBe(status);
  });

  test('the field is named', async () => {
    const { post } = await start();
    const answer = await post(body().replace('"firing","labels"', '"fire","labels"'));
    expect(await answer.json()).toEqual({
      error: 'alerts.0.status: expected "firing" or "resolved"',
      field: 'alerts.0.status',
    });
  });

  test('a body without announced length is cut at the limit', async () => {
    const { url } = await start();
    // One piece a round of the event loop: the server, in the same process, has to get a word in.
    const endless = new ReadableStream({
      pull: async (controller) => {
        await setImmediate();
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const request = fetch(`${url}/webhooks/alertmanager`, {
      method: 'POST',
      body: endless,
      duplex: 'half',
      headers: { 'content-type': 'application/json', authorization: 'Bearer correct horse' },
    } as RequestInit);
    // The answer may be lost to a sender that never stops sending; what counts is that it is cut.
    const status = await request.then((answer) => answer.status).catch(() => 413);
    expect(status).toBe(413);
  });

  test('other methods and paths are refused', async () => {
    const { url } = await start();
    const wrong = await fetch(`${url}/webhooks/alertmanager`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await fetch(`${url}/.env`)).status).toBe(404);
  });

  test('a head that never ends is cut', async () => {
    const { port } = await start({}, { receiveTimeoutMs: 300 });
    const reply = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('POST /webhooks/alertmanager HTTP/1.1\r\nhost: x\r\n'),
      );
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('close', () => resolve(text));
    });
    expect(reply).toMatch(/^HTTP\/1.1 408 /);
    expect(reply).toContain('x-content-type-options: nosniff');
  });
});

describe('when the alert cannot be stored', () => {
  test('in time, the answer is 503 with Retry-After', async () => {
    const { post } = await start({ accept: () => new Promise(() => undefined), timeoutMs: 50 });
    const answer = await post(body());
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });

  test('because the database is away, the answer is 503 and tells nothing of it', async () => {
    const away = openDatabase('postgres://sentry:hunter2@127.0.0.1:1/none');
    closing.push(() => away.close(100));
    const { post } = await start({ accept: createAccept(away.sql, [], domainOf) });
    const answer = await post(body());
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.text()).not.toMatch(/hunter2|ECONN|127\.0/);
    expect(lines).toContain('alerts not accepted');
  });
});

test('every answer carries the security headers and no stack', async () => {
  const broken = {
    method: 'GET',
    path: '/broken',
    handle: () => Promise.reject(new Error('secret detail')),
  } as const;
  const metrics = new Registry();
  const http = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    routes: [broken, ...statusRoutes({ health: async () => [], metrics })],
    log,
    metrics,
  });
  const { port } = await http.listen();
  closing.push(() => http.close(100));
  for (const path of ['/health', '/ready', '/metrics', '/broken', '/nothing']) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('x-powered-by')).toBeNull();
    expect(await answer.text()).not.toMatch(/secret detail|at .*\.ts/);
  }
  const scrape = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(scrape.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await scrape.text();
  expect(text).toContain('sentry_http_requests_total{path="/health",status="200"} 1\n');
  expect(text).toContain('sentry_http_requests_total{path="other",status="404"} 1\n');
  expect(text).toContain('sentry_http_request_seconds_bucket{le="+Inf",path="/health"} 1\n');
  const sample =
    /^(?:[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [\d.e+-]+|# (?:HELP|TYPE) [a-z_]+ .+|)$/;
  expect(text.split('\n').filter((line) => !sample.test(line))).toEqual([]);
});

test.each([
  ['a vital part is away', true, 503, 'not ready'],
  ['another part is away', false, 200, 'degraded'],
])('while %s, /ready answers that and which [F19]', async (_, isVital, status, word) => {
  const part = { name: 'engine', state: 'away', reason: 'connection refused' };
  const health = async () => [
    { name: 'record', state: 'ok', reason: null, isVital: true },
    { ...part, isVital },
  ];
  const routes = statusRoutes({ health, metrics: new Registry() });
  const http = createHttpServer({ host: '127.0.0.1', port: 0, routes, log });
  const { port } = await http.listen();
  closing.push(() => http.close(100));
  const answer = await fetch(`http://127.0.0.1:${port}/ready`);
  expect(answer.status).toBe(status);
  expect(await answer.json()).toEqual({
    status: word,
    parts: [{ name: 'record', state: 'ok', reason: null }, part],
  });
});

test('a limited peer is told when to come back', async () => {
  const { post } = await start({}, { rateLimit: () => ({ ok: false, retryAfterSeconds: 7 }) });
  const answer = await post(body());
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
});

test('strangers who ask too often are answered 429, and an alert with the secret is still taken', async () => {
  const rateLimit = createRateLimit({ known: 5, strangers: 3 });
  const { url, post } = await start({}, { rateLimit });
  const statuses: number[] = [];
  for (let n = 0; n < 5; n += 1)
    statuses.push((await post(body(), { authorization: 'Bearer wrong' })).status);
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  const elsewhere = await fetch(`${url}/nowhere`);
  expect([elsewhere.status, elsewhere.headers.get('x-frame-options')]).toEqual([429, 'DENY']);
  expect(Number(elsewhere.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await post(body())).status).toBe(202);
});

test('what goes to Slack’s receiver is limited before anything of it is read', async () => {
  let reached = 0;
  const mounts = {
    '/slack/events': (_: unknown, response: ServerResponse) => {
      reached += 1;
      response.end();
    },
  };
  const { url } = await start({}, { mounts, rateLimit: createRateLimit({ known: 2, strangers: 1 }) });
  const statuses = [];
  for (let n = 0; n < 4; n += 1)
    statuses.push((await fetch(`${url}/slack/events`, { method: 'POST', body: '{}' })).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  expect(reached).toBe(2);
});

test('behind a declared proxy each caller is counted for itself, and none is this machine [C10]', async () => {
  const { post } = await start(
    { secret: null },
    {
      clientAddress: clientAddress(['127.0.0.1']),
      rateLimit: createRateLimit({ known: 1, strangers: 1 }),
    },
  );
  const from = async (address: string) => (await post(body(), { 'x-forwarded-for': address })).status;
  // Without a secret only this machine may call: what a proxy on it passes on comes from elsewhere.
  expect(await from('203.0.113.5')).toBe(401);
  expect(await from('127.0.0.1, 203.0.113.5')).toBe(429);
  expect(await from('203.0.113.6')).toBe(401);
  expect(await from('127.0.0.1')).toBe(202);
});
