import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHearDelivery, type HearDelivery } from '../../../src/app/escalation-services.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Escalation } from '../../../src/escalation/escalation.ts';
import { createPager } from '../../../src/escalation/pagers/create-pager.ts';
import { createSchedule } from '../../../src/escalation/schedules/create-schedule.ts';
import { createHttpServer, type HttpServer } from '../../../src/http/server.ts';
import { webhookRoutes } from '../../../src/http/webhook-route.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { type EscalationScene, escalationScene, oncall, twoLevels } from '../../support/escalation-scene.ts';
import { type FakeOpsgenie, fakeOpsgenie } from '../../support/fake-opsgenie.ts';
import { type FakePagerDuty, fakePagerDuty } from '../../support/fake-pagerduty.ts';
import type { PagingFault } from '../../support/paging-server.ts';
import { quiet } from '../../support/quiet.ts';
import { domainOf } from '../../support/targets.ts';

const SECRET = 'of-a-test-of-the-subscription';
const MINUTE = 60_000;

let scene: EscalationScene;
let pagerDuty: FakePagerDuty;
let opsgenie: FakeOpsgenie;
let http: HttpServer;
let sentry: Escalation & { deliver(): Promise<number> };
let hear: HearDelivery;
let send: (payload: object) => Promise<number>;

/** Sentry with PagerDuty at level 1 and Opsgenie at level 2, and their webhooks to its own route. */
beforeEach(async () => {
  [scene, pagerDuty, opsgenie] = await Promise.all([escalationScene(), fakePagerDuty(), fakeOpsgenie()]);
  const pagers = [
    {
      type: 'pagerduty',
      name: 'pd',
      key: pagerDuty.integrationKey,
      region: 'us',
      url: pagerDuty.server.url,
    },
    { type: 'opsgenie', name: 'og', key: opsgenie.key, region: 'us', url: opsgenie.server.url },
  ] as const;
  const dba = createSchedule({
    type: 'pagerduty',
    name: 'dba',
    key: pagerDuty.apiKey,
    schedule: 'PI7DH85',
    region: 'us',
    url: pagerDuty.server.url,
  });
  sentry = scene.process({
    pagers: new Map(pagers.map((pager) => [pager.name, createPager(pager, 2_000)])),
    schedules: new Map([['dba', dba]]),
    ladder: {
      ...twoLevels,
      levels: [
        { afterMs: 5 * MINUTE, mention: oncall, page: ['pd'] },
        { afterMs: 15 * MINUTE, mention: [{ kind: 'schedule', name: 'dba' }], page: ['og'] },
      ],
    },
  });
  hear = createHearDelivery(sentry, pagers);
  http = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: quiet,
    metrics: new Registry(),
    routes: webhookRoutes({
      accept: createAccept(scene.sql, [], domainOf),
      hear: (source, payload) => hear(source, payload, { receivedAt: new Date() }),
      secret: SECRET,
      ownSecrets: new Map(),
      log: quiet,
    }),
  });
  const { port } = await http.listen();
  pagerDuty.subscribe(`http://127.0.0.1:${port}/webhooks/pagerduty`, SECRET);
  opsgenie.subscribe(`http://127.0.0.1:${port}/webhooks/opsgenie?secret=${SECRET}`, SECRET);
  send = async (payload) => {
    const answer = await fetch(`http://127.0.0.1:${port}/webhooks/pagerduty?secret=${SECRET}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` },
      body: JSON.stringify(payload),
    });
    return answer.status;
  };
});
afterEach(async () => {
  await Promise.all([pagerDuty.stop(), opsgenie.stop()]);
  await http.close();
  await scene.close();
});

const incidents = async (): Promise<number> => {
  const [row] = await scene.sql<{ readonly all: number }>`SELECT count(*)::int AS all FROM incident`;
  return row?.all ?? 0;
};
async function act(id: IncidentId): Promise<void> {
  await sentry.look(id);
  await sentry.deliver();
  await Promise.all([pagerDuty.settled(), opsgenie.settled()]);
}
async function fail(fault: PagingFault | null): Promise<void> {
  pagerDuty.server.fault = fault;
  opsgenie.server.fault = fault;
}

it('paged, acknowledged there, over here: one page, known on both sides, and nothing else is opened', async () => {
  const id = await scene.incident();
  await act(id);
  expect(pagerDuty.open(id)).toMatchObject([
    { status: 'triggered', triggers: 1, title: `${id}: box: it is broken` },
  ]);
  expect(await pagerDuty.acknowledge(id, 'Carla')).toEqual([202]);
  await scene.later(id, 60);
  await act(id);
  expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL', 'ack Carla there']);
  expect(opsgenie.alerts).toEqual([]);
  await scene.move(id, 'diagnosing', 'resolved');
  await act(id);
  expect(pagerDuty.open(id)).toEqual([]);
  expect(await incidents()).toBe(1);
});

it('nobody acknowledges: the second level, and whoever takes it there ends the first', async () => {
  pagerDuty.schedules.set('PI7DH85', [{ name: 'Ben', email: 'ben@shop.example', start: null, end: null }]);
  const id = await scene.incident();
  await act(id);
  await scene.later(id, 11);
  await act(id);
  expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL', 'called 2 unacknowledged UBEN']);
  const [second] = opsgenie.open(`${id}-level-2`);
  expect(second).toMatchObject({ status: 'open', count: 1 });
  await opsgenie.acknowledge(`${id}-level-2`, 'ben@shop.example');
  await act(id);
  expect(pagerDuty.open(id)).toMatchObject([{ status: 'acknowledged' }]);
  expect(await incidents()).toBe(1);
});

it('taken in Slack is acknowledged there, given back rings anew, and resolved here is closed', async () => {
  const id = await scene.incident();
  await act(id);
  await sentry.take(id, 'UANN');
  await act(id);
  expect(pagerDuty.open(id)).toMatchObject([{ status: 'acknowledged' }]);
  await sentry.release(id, 'UANN');
  await scene.later(id, 6);
  await act(id);
  expect(pagerDuty.incidents).toMatchObject([{ status: 'resolved' }, { status: 'triggered', triggers: 1 }]);
  await scene.move(id, 'diagnosing', 'stopped');
  await act(id);
  expect(pagerDuty.open(id)).toEqual([]);
  expect((await scene.told(id)).filter((line) => line.startsWith('ack'))).toEqual(['ack UANN taken']);
});

describe('what Sentry itself acknowledges at Opsgenie comes back', () => {
  const atLevel2 = async (): Promise<IncidentId> => {
    const id = await scene.incident();
    await act(id);
    await scene.later(id, 11);
    await act(id);
    return id;
  };

  it('and whoever wrote in the thread has not said that it is theirs', async () => {
    const id = await atLevel2();
    await sentry.wrote(id, 'UANN');
    await act(id);
    expect(opsgenie.open(`${id}-level-2`)).toMatchObject([{ status: 'acknowledged' }]);
    expect((await scene.told(id)).slice(2)).toEqual(['ack UANN acted']);
  });

  it('and does not take again what was given back since', async () => {
    const id = await atLevel2();
    let arrive: () => void = () => undefined;
    opsgenie.until = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await sentry.take(id, 'UANN');
    await sentry.deliver();
    await sentry.release(id, 'UANN');
    arrive();
    await opsgenie.settled();
    expect((await scene.told(id)).slice(2)).toEqual(['ack UANN taken', 'released UANN']);
  });
});

it.each<[string, PagingFault]>([
  ['down', { kind: 'down' }],
  ['failing', { kind: '500' }],
  ['slow to allow', { kind: '429', retryAfter: '30' }],
  ['heard, but its 202 is lost', { kind: 'answer lost' }],
])('a service that is %s for ten minutes: one open page for each level in the end', async (_, fault) => {
  pagerDuty.schedules.set('PI7DH85', [{ name: 'Ben', email: 'ben@shop.example', start: null, end: null }]);
  const id = await scene.incident();
  await sentry.look(id);
  await fail(fault);
  for (let minute = 0; minute < 10; minute += 1) {
    await act(id);
    await scene.later(id, 1);
  }
  await fail(null);
  await scene.later(id, 10);
  await act(id);
  await act(id);
  expect(pagerDuty.open(id)).toHaveLength(1);
  expect(opsgenie.open(`${id}-level-2`)).toHaveLength(1);
  expect(pagerDuty.incidents).toHaveLength(1);
  expect((await scene.pages(id)).map(({ want, told }) => `${want} ${told}`)).toEqual([
    'trigger trigger',
    'trigger trigger',
  ]);
  expect(await incidents()).toBe(1);
});

it('an alert of PagerDuty with a key like ours, of an incident that was never paged, is an alert', async () => {
  const id = await scene.incident({ minutesAgo: 0 });
  const status = await send({
    event: {
      id: 'e1',
      event_type: 'incident.triggered',
      occurred_at: new Date().toISOString(),
      agent: { type: 'user_reference', summary: 'Mallory' },
      data: {
        id: 'Q1',
        type: 'incident',
        status: 'triggered',
        title: 'Something else is broken',
        incident_key: id,
        created_at: new Date().toISOString(),
        service: { summary: 'other' },
        urgency: 'high',
      },
    },
  });
  expect(status).toBe(202);
  expect(await incidents()).toBe(2);
  expect(await scene.told(id)).toEqual([]);
});

it('what its app posts of a page in Slack opens nothing, and takes the incident from nobody', async () => {
  const id = await scene.incident();
  await act(id);
  const message = {
    type: 'message',
    channel: 'C1',
    ts: '1763980000.000100',
    bot_id: 'BPD',
    bot_profile: { name: 'PagerDuty' },
    text: 'Acknowledged by Mallory',
    attachments: [
      {
        title: `[#34] ${id}: box: it is broken`,
        title_link: 'https://example.pagerduty.com/incidents/Q0GM9VWGEIW6WI',
        text: 'Acknowledged by Mallory',
      },
    ],
  };
  const own = { botId: 'BSENTRY', userId: 'USENTRY' };
  expect(await hear('slack', message, { receivedAt: new Date(), own })).toBe(true);
  const others = { ...message, attachments: [{ ...message.attachments[0], title: '[#35] INC-99999: else' }] };
  expect(await hear('slack', others, { receivedAt: new Date(), own })).toBe(false);
  const quoted = { ...message, bot_id: 'BDISK', bot_profile: { name: 'Disk watcher' } };
  expect(await hear('slack', quoted, { receivedAt: new Date(), own })).toBe(false);
  expect(await scene.told(id)).toEqual(['called 1 unacknowledged SONCALL']);
});
