import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { createFaultsServer } from '../../../playground/faults/faults-server.ts';
import { createLocalSlack } from '../../../playground/slack/local-slack.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import { createHttpServer, type HttpServerOptions } from '../../../src/http/server.ts';
import { statusRoutes } from '../../../src/http/status-routes.ts';
import { webhookRoute } from '../../../src/http/webhook-route.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { alertmanagerBody } from '../../support/alerts.ts';
import { quiet } from '../../support/quiet.ts';

/** A page in somebody's browser whose name was bound to this address (DNS rebinding) gets nothing. */
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Byte for byte: clients mend such requests before they send them. */
function raw(port: number, ...head: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(`${head.join('\r\n')}\r\n\r\n`));
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      answer += piece;
    });
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])));
    socket.on('error', reject);
  });
}

const ALERT = JSON.stringify(alertmanagerBody({ instance: 'a' }));

async function start(secret: string | null, options: Partial<HttpServerOptions> = {}) {
  let opened = 0;
  const metrics = new Registry();
  const webhook = webhookRoute({
    source: alertSource('alertmanager'),
    accept: async () => {
      opened += 1;
      return { kind: 'opened', incidentId: asIncidentId('INC-1') };
    },
    secret,
    log: quiet,
  });
  const http = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: quiet,
    routes: [
      webhook,
      ...statusRoutes({
        health: async () => [],
        metrics,
        anyHost: secret !== null && options.names === undefined,
      }),
    ],
    ...options,
  });
  const { port } = await http.listen();
  closing.push(() => http.close(100));
  const authorization = secret === null ? [] : [`Authorization: Bearer ${secret}`];
  return {
    port,
    opened: () => opened,
    get: (path: string, ...head: string[]) => raw(port, `GET ${path} HTTP/1.1`, ...head, 'Connection: close'),
    post: (target: string, ...head: string[]) =>
      raw(
        port,
        `POST ${target} HTTP/1.1`,
        ...head,
        ...authorization,
        'Content-Type: application/json',
        'Connection: close',
        `Content-Length: ${Buffer.byteLength(ALERT)}`,
        `\r\n${ALERT}`,
      ),
  };
}

const WEBHOOK = '/webhooks/alertmanager';
const strangers: readonly (readonly string[])[] = [
  ['Host: evil.example'],
  ['Host: localhost.evil.example'],
  ['Host: evil.example:3000'],
  ['Host: localhost@evil.example'],
  ['Host: evil.example#localhost'],
  ['Host: localhost/evil.example'],
  ['Host: localhost:99999'],
  ['Host: localhost:80:80'],
  ['Host: localhost:'],
  ['Host: localhost..'],
  ['Host: 127.1'],
  ['Host: 2130706433'],
  ['Host: 0.0.0.0'],
  ['Host: [::ffff:127.0.0.1]'],
  ['Host: [::]'],
  ['Host: 10.0.0.5'],
  ['Host:'],
  ['Host: localhost', 'Host: evil.example'],
  ['Host: evil.example', 'Host: localhost'],
  ['Host: localhost', 'Host: localhost'],
  ['Host: localhost', 'Origin: http://evil.example'],
  ['Host: localhost', 'Origin: http://localhost.evil.example'],
  ['Host: localhost', 'Origin: null'],
  ['Host: localhost', 'Origin: http://localhost@evil.example'],
  ['Host: localhost', 'Origin:'],
];

describe('without a secret', () => {
  test.each(strangers.map((head) => ({ head })))(
    '$head opens nothing and reads nothing [F14]',
    async ({ head }) => {
      const { get, post, opened } = await start(null);
      const answers = [await post(WEBHOOK, ...head), await get('/metrics', ...head)];
      expect(answers).toEqual(answers.map((status) => (status === 400 ? 400 : 403)));
      expect(opened()).toBe(0);
    },
  );

  test('a whole address as the target counts as the name, too [F14]', async () => {
    const { port, post, opened } = await start(null);
    expect(await post(`http://evil.example${WEBHOOK}`, 'Host: localhost')).toBe(403);
    expect(await post(`http://localhost${WEBHOOK}`, 'Host: evil.example')).toBe(403);
    expect(await post(`//evil.example${WEBHOOK}`, 'Host: evil.example')).not.toBe(202);
    expect(opened()).toBe(0);
    expect(await post(`http://127.0.0.1:${port}${WEBHOOK}`, 'Host: 127.0.0.1')).toBe(202);
  });

  test.each(['localhost', 'LOCALHOST:3000', 'localhost.', '127.0.0.1:4900', '[::1]:80', 'Sentry.Example'])(
    'a program that calls it %s is served [F14]',
    async (name) => {
      const { get, post } = await start(null, { names: ['sentry.example'] });
      expect(await post(WEBHOOK, `Host: ${name}`)).toBe(202);
      expect(await get('/metrics', `Host: ${name}`)).toBe(200);
      expect(await get('/metrics', `Host: ${name}`, 'Origin: http://localhost:5173')).toBe(200);
    },
  );

  test('whether it lives is answered under any name: balancers ask by address [F14]', async () => {
    const { get } = await start(null);
    expect([await get('/health', 'Host: 10.0.0.5:3000'), await get('/ready', 'Host: pod-7')]).toEqual([
      200, 200,
    ]);
  });
});

describe('with a secret', () => {
  test('senders and Prometheus reach it under whatever name a proxy passes on [F14]', async () => {
    const { get, post } = await start('correct horse');
    expect(await post(WEBHOOK, 'Host: alerts.example.com')).toBe(202);
    expect(await post(WEBHOOK, 'Host: 10.0.0.5:3000')).toBe(202);
    expect(await get('/metrics', 'Host: sentry:3000')).toBe(200);
  });

  test('a page of another site is refused, also where it comes with the secret [F14]', async () => {
    const { post, opened } = await start('correct horse');
    expect(await post(WEBHOOK, 'Host: alerts.example.com', 'Origin: https://evil.example')).toBe(403);
    expect(opened()).toBe(0);
  });

  test('metrics are served under its configured names only [F14]', async () => {
    const { get } = await start('correct horse', { names: ['sentry.example'] });
    expect([
      await get('/metrics', 'Host: sentry.example'),
      await get('/metrics', 'Host: evil.example'),
    ]).toEqual([200, 403]);
  });
});

describe('the playground', () => {
  test.each(strangers.map((head) => ({ head })))(
    '$head reaches neither page nor faults [F14]',
    async ({ head }) => {
      const slack = await createLocalSlack();
      closing.push(() => slack.close());
      const faults = createFaultsServer({ list: () => [] } as never);
      await new Promise<void>((resolve) => faults.listen(0, '127.0.0.1', resolve));
      closing.push(async () => faults.close());
      const slackPort = Number(new URL(slack.url).port);
      const faultsPort = (faults.address() as { readonly port: number }).port;
      const own = head.map((line) => line.replace(/^Host: localhost$/, `Host: localhost:${slackPort}`));
      const answers = [
        await raw(slackPort, 'GET / HTTP/1.1', ...own, 'Connection: close'),
        await raw(
          slackPort,
          'POST /control/reset HTTP/1.1',
          ...own,
          'Content-Length: 0',
          'Connection: close',
        ),
        await raw(faultsPort, 'GET /faults HTTP/1.1', ...head, 'Connection: close'),
      ];
      expect(answers).toEqual(answers.map((status) => (status === 400 ? 400 : 403)));
    },
  );

  test('a whole address as the target counts as the name, too [F14]', async () => {
    const faults = createFaultsServer({ list: () => [] } as never);
    await new Promise<void>((resolve) => faults.listen(0, '127.0.0.1', resolve));
    closing.push(async () => faults.close());
    const { port } = faults.address() as { readonly port: number };
    const ask = (target: string) =>
      raw(port, `GET ${target} HTTP/1.1`, `Host: localhost:${port}`, 'Connection: close');
    expect([await ask('http://evil.example/faults'), await ask('/faults')]).toEqual([403, 200]);
  });
});
