import { afterEach, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import type { Change } from '../../../src/core/change.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { webhookRoutes } from '../../../src/http/webhook-route.ts';
import { fixtures, changes as github } from '../../contract/sources/github.ts';
import { changed } from '../../contract/sources/mapped.ts';
import { quiet } from '../../support/quiet.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function start(isDown = false) {
  const accepted: Alert[] = [];
  const recorded: Change[] = [];
  const routes = webhookRoutes({
    accept: async (alert) => {
      if (alert.status === 'resolved') return { kind: 'orphan_resolved', incidentId: null };
      accepted.push(alert);
      return { kind: 'opened', incidentId: asIncidentId('INC-1') };
    },
    recordChange: async (change) => {
      if (isDown) throw new Error('the database is away');
      recorded.push(change);
      return 'recorded';
    },
    secret: null,
    ownSecrets: new Map(),
    log: quiet,
  });
  const http = createHttpServer({ host: '127.0.0.1', port: 0, routes, log: quiet });
  const { port } = await http.listen();
  closing.push(() => http.close(0));
  const post = async (source: string, payload: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}/webhooks/${source}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { post, accepted, recorded };
}

test('a deployment that went well is put on record and opens nothing', async () => {
  const { post, accepted, recorded } = await start();
  expect(await post('github', github.succeeded)).toEqual({
    status: 202,
    body: {
      accepted: [{ kind: 'orphan_resolved', incident: null }],
      changes: [{ kind: 'recorded', id: 'deployment acme/shop 145988746' }],
    },
  });
  expect(accepted).toEqual([]);
  expect(recorded).toMatchObject([{ title: 'shop-api v1.4.2 deployed' }]);
});

test('a deployment that failed is an alert, and on record as one that failed', async () => {
  const { post, accepted, recorded } = await start();
  const failed = changed(github.succeeded, { 'deployment_status.state': 'failure' });
  expect((await post('github', failed)).status).toBe(202);
  expect(accepted).toMatchObject([{ status: 'firing' }]);
  expect(recorded).toMatchObject([{ state: 'failed', title: 'shop-api v1.4.2 failed to deploy' }]);
});

test('a failed workflow that deploys nothing is an alert alone', async () => {
  const { post, accepted, recorded } = await start();
  await post('github', changed(fixtures.firing as object, { 'workflow_run.name': 'Unit tests' }));
  expect([accepted.length, recorded.length]).toEqual([1, 0]);
});

test('more changes than anybody deploys at once are refused whole, with a word, and keep no alert away', async () => {
  const { post, accepted, recorded } = await start();
  const change = Array.from({ length: 501 }, (_, n) => ({ id: `d-${n}`, title: 'shop-api deployed' }));
  expect(await post('generic', { change })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('at most 500') },
  });
  const alert = { title: 'the shop is down', status: 'firing' };
  expect(await post('generic', [alert, { change }])).toMatchObject({
    status: 202,
    body: { refused: [{ field: 'change' }] },
  });
  expect([accepted.length, recorded.length]).toEqual([1, 0]);
  expect((await post('generic', { change: change.slice(1) })).status).toBe(202);
  expect(recorded).toHaveLength(500);
});

test('a change that could not be stored is sent again', async () => {
  const { post } = await start(true);
  expect((await post('github', github.succeeded)).status).toBe(503);
});

test('one of several changes that cannot be read refuses itself alone, and says what is missing', async () => {
  const { post, recorded } = await start();
  const good = { id: 'a', title: 'shop-api deployed', where: 'shop-api' };
  const { status, body } = await post('generic', { change: [{ title: 'without an id' }, good] });
  expect([status, body['refused']]).toEqual([
    202,
    [{ field: 'id', error: "expected the sender's own id of the change" }],
  ]);
  expect(recorded).toMatchObject([{ id: 'a', where: ['shop-api'] }]);
  expect((await post('generic', { change: { title: 'without an id' } })).status).toBe(400);
});
