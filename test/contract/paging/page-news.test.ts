import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { PageNews } from '../../../src/core/page-news.ts';
import { createPager } from '../../../src/escalation/pagers/create-pager.ts';
import type { Page } from '../../../src/escalation/ports.ts';
import { readPageNews } from '../../../src/sources/registry.ts';
import { type FakeOpsgenie, fakeOpsgenie } from '../../support/fake-opsgenie.ts';
import { type FakePagerDuty, fakePagerDuty } from '../../support/fake-pagerduty.ts';
import { objectIn, type PagingServer, pagingServer } from '../../support/paging-server.ts';

const secret = 'of-a-test-of-the-subscription';
const never = new AbortController().signal;
const page: Page = {
  incidentId: asIncidentId('INC-12'),
  dedupKey: 'INC-12-level-2',
  level: 2,
  severity: 'error',
  summary: 'The disk is full',
  target: 'orders-db',
  reason: 'Nobody has acknowledged it.',
  evidence: [],
  url: null,
};

/** Whoever receives the services' webhooks. */
let receiver: PagingServer;
beforeEach(async () => {
  receiver = await pagingServer(() => ({ status: 202, body: {} }));
});
afterEach(() => receiver.stop());

const news = (source: string): readonly (PageNews | null)[] =>
  receiver.requests.map(({ body }) => readPageNews(source, objectIn(body), { receivedAt: new Date() }));

describe('what PagerDuty tells of a page', () => {
  let fake: FakePagerDuty;
  beforeEach(async () => {
    fake = await fakePagerDuty();
    fake.subscribe(receiver.url, secret);
  });
  afterEach(() => fake.stop());

  test('is signed, and is news', async () => {
    const { server, integrationKey: key } = fake;
    const pager = createPager({ name: 'oncall', type: 'pagerduty', key, region: 'us', url: server.url });
    await pager.trigger(page, never);
    await fake.settled();
    expect(await fake.acknowledge(page.dedupKey, 'Ann')).toEqual([202]);
    await fake.unacknowledge(page.dedupKey);
    await fake.reassign(page.dedupKey, 'Ann', 'Ben');
    await pager.acknowledge(page.dedupKey, 'Cleo', never);
    await fake.settled();
    await fake.resolve(page.dedupKey, 'Ben');
    expect(news('pagerduty')).toMatchObject([
      { dedupKey: 'INC-12-level-2', kind: 'echo', by: null },
      { dedupKey: 'INC-12-level-2', kind: 'acknowledged', by: 'Ann', to: null },
      { dedupKey: 'INC-12-level-2', kind: 'released', by: null },
      { dedupKey: 'INC-12-level-2', kind: 'reassigned', by: 'Ann', to: 'Ben' },
      // Sentry's own, coming back: no person.
      { dedupKey: 'INC-12-level-2', kind: 'acknowledged', by: null },
      { dedupKey: 'INC-12-level-2', kind: 'resolved', by: 'Ben' },
    ]);
    for (const { headers, body } of receiver.requests)
      expect(headers['x-pagerduty-signature']).toBe(
        `v1=${createHmac('sha256', secret).update(body).digest('hex')}`,
      );
  });
});

describe('what Opsgenie tells of a page', () => {
  let fake: FakeOpsgenie;
  beforeEach(async () => {
    fake = await fakeOpsgenie();
    fake.subscribe(receiver.url, secret);
  });
  afterEach(() => fake.stop());

  test('is news', async () => {
    const { server, key } = fake;
    const pager = createPager({ name: 'oncall', type: 'opsgenie', key, region: 'us', url: server.url });
    await pager.trigger(page, never);
    await fake.settled();
    await fake.acknowledge(page.dedupKey, 'ann@example.com');
    await fake.unacknowledge(page.dedupKey, 'System');
    await fake.assign(page.dedupKey, 'ann@example.com', 'ben@example.com');
    await pager.resolve(page.dedupKey, 'over', never);
    await fake.settled();
    expect(news('opsgenie')).toMatchObject([
      { dedupKey: 'INC-12-level-2', kind: 'echo', by: null },
      { dedupKey: 'INC-12-level-2', kind: 'acknowledged', by: 'ann@example.com', to: null },
      { dedupKey: 'INC-12-level-2', kind: 'released', by: null },
      { dedupKey: 'INC-12-level-2', kind: 'reassigned', by: 'ann@example.com', to: 'ben@example.com' },
      { dedupKey: 'INC-12-level-2', kind: 'resolved', by: null },
    ]);
  });
});
