import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { until } from '../../../../playground/faults/until.ts';
import { endProcessesUnder } from '../../../support/processes-under.ts';
import type { Loose } from './shop-rig.ts';

/** What Sentry's webhook got, and what it answers. */
const received: Loose[] = [];
let answerWith = 503;
let receiver: Server;
let dataDir: string;
let child: ChildProcess | undefined;
let url = '';

beforeAll(async () => {
  dataDir = mkdtempSync(join(inject('scratchRoot'), 'faults-'));
  chmodSync(dataDir, 0o755);
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const accepted = request.headers.authorization === 'Bearer a-secret-of-8' ? answerWith : 401;
      received.push({ accepted, ...JSON.parse(body) });
      response.writeHead(accepted).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  await start();
});

afterAll(async () => {
  child?.kill('SIGKILL');
  receiver.close();
  await endProcessesUnder(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const alertUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks/alertmanager`;
  const secretFile = join(dataDir, 'webhook-secret');
  writeFileSync(secretFile, 'a-secret-of-8');
  const args = [
    '--import',
    'tsx',
    'playground/faults/main.ts',
    '--data',
    dataDir,
    '--alert-url',
    alertUrl,
    '--webhook-secret-file',
    secretFile,
  ];
  child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.stdout === null) throw new Error('no stdout');
  const [line] = await once(createInterface(child.stdout), 'line');
  const ready = JSON.parse(String(line));
  expect(ready).toMatchObject({ ready: true, target: 'shop-db' });
  url = ready.url;
}

const post = async (path: string, headers = {}): Promise<Loose> => {
  const response = await fetch(`${url}${path}`, { method: 'POST', headers });
  return { status: response.status, ...((await response.json()) as object) };
};
const fault = async (id: string): Promise<Loose> => {
  const { faults } = (await (await fetch(`${url}/faults`)).json()) as Loose;
  return faults.find((one: Loose) => one.id === id);
};
const sent = (alertname: string, status: string, accepted = 200): Loose[] =>
  received.filter(
    (body) =>
      body.accepted === accepted && body.status === status && body.alerts[0].labels.alertname === alertname,
  );

test('a fault fires one alert when it is really there, retried until accepted, and resolves it when it is really gone', async () => {
  expect(await post('/faults/blocked_sessions/cause')).toEqual({ status: 200, ok: true });
  expect(await fault('blocked_sessions')).toMatchObject({ state: 'active' });
  expect(await post('/faults/blocked_sessions/cause')).toMatchObject({ status: 409, ok: false });
  await until('a refused delivery', async () => sent('PostgresBlockedSessions', 'firing', 503).length > 0);
  answerWith = 200;
  await until('the accepted one', async () => sent('PostgresBlockedSessions', 'firing').length > 0);
  const [body] = sent('PostgresBlockedSessions', 'firing');
  expect(body).toMatchObject({
    version: '4',
    groupLabels: { alertname: 'PostgresBlockedSessions' },
    alerts: [
      {
        labels: {
          severity: 'critical',
          source_type: 'database',
          instance: 'shop-db:5432',
          datname: 'shop_db',
        },
        endsAt: '0001-01-01T00:00:00Z',
      },
    ],
  });
  expect(await post('/faults/blocked_sessions/undo')).toEqual({ status: 200, ok: true });
  await until('the resolution', async () => sent('PostgresBlockedSessions', 'resolved').length > 0);
  const [resolved] = sent('PostgresBlockedSessions', 'resolved');
  expect(resolved.alerts[0]).toMatchObject({
    fingerprint: body.alerts[0].fingerprint,
    startsAt: body.alerts[0].startsAt,
  });
  expect(sent('PostgresBlockedSessions', 'firing')).toHaveLength(1);
  expect(sent('PostgresIdleInTransaction', 'firing')).toHaveLength(0);
});

test('after kill -9 it says what survived, and sends the resolution that is owed', async () => {
  expect((await post('/faults/blocked_sessions/cause')).ok).toBe(true);
  expect((await post('/faults/table_bloat/cause')).ok).toBe(true);
  await until(
    'both alerts',
    async () =>
      sent('PostgresTableBloat', 'firing').length > 0 && sent('PostgresBlockedSessions', 'firing').length > 1,
  );
  child?.kill('SIGKILL');
  await once(child as ChildProcess, 'exit');
  await start();
  expect(await fault('blocked_sessions')).toMatchObject({
    state: 'idle',
    detail: expect.stringContaining('restarted'),
  });
  expect(await fault('table_bloat')).toMatchObject({ state: 'active' });
  await until('the resolution', async () => sent('PostgresBlockedSessions', 'resolved').length === 2);
  expect(sent('PostgresTableBloat', 'firing')).toHaveLength(1);
  expect((await post('/faults/table_bloat/undo')).ok).toBe(true);
  await until('its resolution', async () => sent('PostgresTableBloat', 'resolved').length === 1);
});

test('only programs of this machine may cause faults, and only faults there are', async () => {
  expect(await post('/faults/runaway_query/cause', { origin: 'https://evil.example' })).toMatchObject({
    status: 403,
  });
  expect(await post('/faults/no_such/cause')).toMatchObject({ status: 404, ok: false });
  expect((await fetch(`${url}/faults/runaway_query/cause`)).status).toBe(405);
  expect(await fault('runaway_query')).toMatchObject({ state: 'idle' });
});

test('SIGTERM stops it and its server', async () => {
  child?.kill('SIGTERM');
  const [code] = await once(child as ChildProcess, 'exit');
  expect(code).toBe(0);
  child = undefined;
});
