import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OnCallSchedule } from '../../../src/escalation/ports.ts';
import { createSchedule } from '../../../src/escalation/schedules/create-schedule.ts';
import { type FakeOpsgenie, fakeOpsgenie } from '../../support/fake-opsgenie.ts';
import { type FakePagerDuty, fakePagerDuty } from '../../support/fake-pagerduty.ts';

const never = new AbortController().signal;
const change = '2026-03-01T09:00:00Z';
const before = new Date('2026-03-01T08:59:59.500Z');
const after = new Date('2026-03-01T09:00:00Z');

describe('a schedule of PagerDuty', () => {
  let fake: FakePagerDuty;
  const schedule = (changed: { key?: string; schedule?: string } = {}): OnCallSchedule =>
    createSchedule({
      name: 'dba',
      type: 'pagerduty',
      key: fake.apiKey,
      schedule: 'PI7DH85',
      region: 'us',
      url: fake.server.url,
      ...changed,
    });

  beforeEach(async () => {
    fake = await fakePagerDuty();
    fake.schedules.set('PI7DH85', [
      { name: 'Olivia', email: 'olivia@example.com', start: '2026-02-22T09:00:00Z', end: change },
      { name: 'Noah', email: 'noah@example.com', start: change, end: '2026-03-08T10:00:00+01:00' },
      { name: 'Amara', email: 'amara@example.com', start: null, end: null },
    ]);
  });
  afterEach(() => fake.stop());

  test('tells whose turn it is to the second, each person once', async () => {
    const amara = { name: 'Amara', email: 'amara@example.com', slackUser: null };
    expect(await schedule().onCall(before, never)).toEqual([
      { name: 'Olivia', email: 'olivia@example.com', slackUser: null },
      amara,
    ]);
    expect(await schedule().onCall(after, never)).toEqual([
      { name: 'Noah', email: 'noah@example.com', slackUser: null },
      amara,
    ]);
  });

  test('says nobody where there is nobody', async () => {
    fake.schedules.set('PI7DH85', []);
    expect(await schedule().onCall(after, never)).toEqual([]);
  });

  test('rejects with what to do', async () => {
    const wrongKey = schedule({ key: 'u+another-of-a-test' }).onCall(after, never);
    await expect(wrongKey).rejects.toMatchObject({
      code: 'SCHEDULE_KEY',
      retryable: false,
      hint: expect.stringMatching(/API Access Keys/),
    });
    await expect(schedule({ schedule: 'PNOTHERE' }).onCall(after, never)).rejects.toMatchObject({
      code: 'SCHEDULE_UNKNOWN',
      retryable: false,
    });
    for (const kind of ['down', '500'] as const) {
      fake.server.fault = { kind };
      await expect(schedule().onCall(after, never)).rejects.toMatchObject({
        code: 'SCHEDULE_AWAY',
        retryable: true,
      });
    }
    fake.server.fault = { kind: 'redirect' };
    await expect(schedule().onCall(after, never)).rejects.toMatchObject({ code: 'SCHEDULE_REFUSED' });
    fake.server.fault = { kind: 'answer', status: 200, body: '{"oncalls":[{"user":null}]}' };
    await expect(schedule().onCall(after, never)).rejects.toMatchObject({ code: 'SCHEDULE_REFUSED' });
  });
});

describe('a schedule of Opsgenie', () => {
  let fake: FakeOpsgenie;
  const schedule = (changed: { key?: string; schedule?: string } = {}): OnCallSchedule =>
    createSchedule({
      name: 'ops',
      type: 'opsgenie',
      key: fake.key,
      schedule: 'Database on-call/EU',
      region: 'us',
      url: fake.server.url,
      ...changed,
    });

  beforeEach(async () => {
    fake = await fakeOpsgenie();
    fake.schedules.set('Database on-call/EU', (at) =>
      at < new Date(change) ? ['olivia@example.com'] : ['noah@example.com', 'noah@example.com', 'robot'],
    );
  });
  afterEach(() => fake.stop());

  test('tells whose turn it is at a moment', async () => {
    expect(await schedule().onCall(before, never)).toEqual([
      { name: 'olivia@example.com', email: 'olivia@example.com', slackUser: null },
    ]);
    expect(await schedule().onCall(after, never)).toEqual([
      { name: 'noah@example.com', email: 'noah@example.com', slackUser: null },
      { name: 'robot', email: null, slackUser: null },
    ]);
  });

  test('rejects with what to do', async () => {
    for (const key of ['not-even-a-key', '00000000-0000-0000-0000-000000000000'])
      await expect(schedule({ key }).onCall(after, never)).rejects.toMatchObject({
        code: 'SCHEDULE_KEY',
        retryable: false,
      });
    await expect(schedule({ schedule: 'another' }).onCall(after, never)).rejects.toMatchObject({
      code: 'SCHEDULE_UNKNOWN',
    });
    fake.server.fault = { kind: '429', retryAfter: '5' };
    await expect(schedule().onCall(after, never)).rejects.toMatchObject({
      code: 'SCHEDULE_AWAY',
      retryable: true,
    });
  });
});
