import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import type { Fault } from '../../../playground/slack/page-api.ts';
import { USERS } from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';

let faults: Server;
let slack: LocalSlack;
let client: LocalSlackClient;
let fault: Fault;
let refuse: string | undefined;

beforeEach(async () => {
  fault = {
    id: 'blocked-sessions',
    title: 'Blocked sessions',
    description: 'd',
    system: 'shop-db',
    impossible: null,
    needsPeople: false,
    alertname: 'A',
    holds: false,
    fires: false,
    state: 'idle',
  };
  refuse = undefined;
  faults = createServer((request, response) => {
    const [, , id, what] = (request.url ?? '').split('/');
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') response.end(JSON.stringify({ faults: [fault] }));
    else if (id !== fault.id || refuse !== undefined)
      response.end(JSON.stringify({ ok: false, reason: refuse ?? 'no such fault' }));
    else {
      fault = { ...fault, state: what === 'cause' ? 'active' : 'idle' };
      response.end('{"ok":true}');
    }
  });
  await new Promise<void>((resolve) => faults.listen(0, '127.0.0.1', resolve));
  const { port } = faults.address() as AddressInfo;
  slack = await createLocalSlack({ faultsUrl: `http://127.0.0.1:${port}` });
  client = new LocalSlackClient(slack.url);
});

afterEach(async () => {
  await slack.close();
  faults.closeAllConnections();
  faults.close();
});

const stateNow = async () => (await client.snapshot()).faults.faults[0]?.state;

it('shows the faults, causes one and undoes it', async () => {
  await expect.poll(stateNow).toBe('idle');
  const body = { userId: USERS.onCall, id: 'blocked-sessions' };
  expect(await client.act('fault.cause', body)).toEqual({ ok: true });
  expect(await stateNow()).toBe('active');
  expect(await client.act('fault.undo', body)).toEqual({ ok: true });
  expect(await stateNow()).toBe('idle');
});

it('says why a fault could not be caused, and that the server is away', async () => {
  refuse = 'shop-db is down';
  const answer = await client.act('fault.cause', { userId: USERS.onCall, id: 'blocked-sessions' });
  expect(answer).toMatchObject({ ok: false, error: 'fault_failed', reason: 'shop-db is down' });
  faults.closeAllConnections();
  faults.close();
  await client.act('fault.cause', { userId: USERS.onCall, id: 'blocked-sessions' });
  expect((await client.snapshot()).faults).toMatchObject({
    available: false,
    reason: expect.stringContaining('does not answer'),
  });
});
