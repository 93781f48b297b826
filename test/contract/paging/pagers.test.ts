import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { PagerConfig } from '../../../src/escalation/escalation-config.ts';
import { createPager } from '../../../src/escalation/pagers/create-pager.ts';
import type { Page, Pager } from '../../../src/escalation/ports.ts';
import { fakeOpsgenie } from '../../support/fake-opsgenie.ts';
import { fakePagerDuty } from '../../support/fake-pagerduty.ts';
import { fakeWebhook, WebhookMessage } from '../../support/fake-webhook.ts';
import { objectIn, type PagingServer } from '../../support/paging-server.ts';

/** A service as the suite sees it: what is open there under a key, and how that stands. */
interface Service {
  readonly config: PagerConfig;
  readonly server: PagingServer;
  open(key: string): readonly { readonly status: string }[];
  /** All pages that there ever were. */
  ever(): number;
  stop(): Promise<void>;
}

const services: readonly (readonly [name: string, start: () => Promise<Service>])[] = [
  [
    'pagerduty',
    async () => {
      const fake = await fakePagerDuty();
      const { server, integrationKey: key } = fake;
      const config = { name: 'oncall', type: 'pagerduty', key, region: 'us', url: server.url } as const;
      return { ...fake, config, ever: () => fake.incidents.length };
    },
  ],
  [
    'opsgenie',
    async () => {
      const fake = await fakeOpsgenie();
      const { server, key } = fake;
      const config = { name: 'oncall', type: 'opsgenie', key, region: 'us', url: `${server.url}/` } as const;
      return { ...fake, config, ever: () => fake.alerts.length };
    },
  ],
  [
    'webhook',
    async () => {
      const fake = await fakeWebhook();
      const { server, key } = fake;
      const config = { name: 'oncall', type: 'webhook', key, url: `${server.url}/page` } as const;
      return { ...fake, config, ever: () => fake.pages.length };
    },
  ],
];

const page: Page = {
  incidentId: asIncidentId('INC-12'),
  dedupKey: 'INC-12',
  level: 1,
  severity: 'critical',
  summary: 'Sessions are blocked on orders-db',
  target: 'orders-db',
  reason: 'Nobody has acknowledged it for 5 minutes.',
  evidence: ['session 32497 blocks 4 others', 'its last statement was 40 minutes ago'],
  url: 'https://example.slack.com/archives/C1/p1700000000000100',
};
const level2: Page = { ...page, dedupKey: 'INC-12-level-2', level: 2 };
const long = 'x'.repeat(100_000);
const hostile: Page = {
  ...page,
  severity: 'unknown',
  summary: `<!channel> *nul \u0000 half \ud83d & "quoted"\nsecond line ${long}`,
  target: `${long}\n`,
  reason: long,
  evidence: Array.from({ length: 3_000 }, () => `\u0000${long.slice(0, 5_000)}`),
  url: null,
};

const never = new AbortController().signal;

describe.each(services)('%s', (_, start) => {
  let service: Service;
  let pager: Pager;

  beforeEach(async () => {
    service = await start();
    pager = createPager(service.config);
  });
  afterEach(() => service.stop());

  test('opens one page for a key, however often it is told', async () => {
    expect(await pager.trigger(page, never)).toEqual({ ok: true });
    expect(await Promise.all([pager.trigger(page, never), pager.trigger(page, never)])).toEqual([
      { ok: true },
      { ok: true },
    ]);
    expect(service.open('INC-12')).toHaveLength(1);
    expect(service.ever()).toBe(1);
  });

  test('keeps levels apart', async () => {
    await pager.trigger(page, never);
    await pager.trigger(level2, never);
    await pager.resolve('INC-12', 'over', never);
    expect(service.open('INC-12')).toEqual([]);
    expect(service.open('INC-12-level-2')).toHaveLength(1);
  });

  test('acknowledges and resolves what is open, also twice, and what nobody there knows', async () => {
    await pager.trigger(page, never);
    for (const by of ['Olivia', 'Olivia'])
      expect(await pager.acknowledge('INC-12', by, never)).toEqual({ ok: true });
    expect(service.open('INC-12')).toMatchObject([{ status: 'acknowledged' }]);
    for (const key of ['INC-12', 'INC-12', 'INC-99'])
      expect(await pager.resolve(key, 'Alertmanager says it is over.', never)).toEqual({ ok: true });
    expect(service.open('INC-12')).toEqual([]);
  });

  test('opens the same page again once it is resolved', async () => {
    for (const round of [1, 2]) {
      expect(await pager.trigger(page, never)).toEqual({ ok: true });
      expect(service.open('INC-12')).toHaveLength(1);
      expect(await pager.resolve('INC-12', 'over', never)).toEqual({ ok: true });
      expect(service.ever()).toBe(round);
    }
  });

  test('is understood whatever the texts are', async () => {
    expect(await pager.trigger(hostile, never)).toEqual({ ok: true });
    expect(await pager.acknowledge('INC-12', long, never)).toEqual({ ok: true });
    expect(await pager.resolve('INC-12', `\u0000${long}`, never)).toEqual({ ok: true });
    expect(
      await pager.trigger({ ...page, summary: '', target: '', reason: '', evidence: [] }, never),
    ).toEqual({
      ok: true,
    });
    for (const { body } of service.server.requests) {
      expect(body.length).toBeLessThan(64 * 1024);
      expect(body.toString('utf8')).not.toMatch(/\\u0000|\\ud83d/);
    }
  });

  test('begins its title with the incident', async () => {
    await pager.trigger({ ...level2, summary: 'INC-12: the disk is full' }, never);
    const told = JSON.stringify(objectIn(service.server.requests[0]?.body ?? Buffer.alloc(0)));
    expect(told).toContain('"INC-12 (level 2): the disk is full"');
  });

  test.each([
    [{ kind: 'down' }, /cannot be reached/],
    [{ kind: '500' }, /a fault of its own \(500\)/],
    [{ kind: 'answer', status: 503, body: '' }, /503/],
    [{ kind: 'answer', status: 200, body: '<title>Log in to the guest network</title>' }, /is not/],
  ] as const)('says to try again where it is %j, and works afterwards', async (fault, reason) => {
    service.server.fault = fault;
    const delivered = await pager.trigger(page, never);
    // A webhook may answer as it likes, as long as it is a success.
    if (fault.kind === 'answer' && fault.status === 200 && service.config.type === 'webhook')
      expect(delivered).toEqual({ ok: true });
    else
      expect(delivered).toMatchObject({ ok: false, retryable: true, reason: expect.stringMatching(reason) });
    service.server.fault = null;
    expect(await pager.trigger(page, never)).toEqual({ ok: true });
    expect(service.open('INC-12')).toHaveLength(1);
  });

  test('whose answer was lost has one page after the next try', async () => {
    service.server.fault = { kind: 'answer lost' };
    expect(await pager.trigger(page, never)).toMatchObject({ ok: false, retryable: true });
    expect(service.open('INC-12')).toHaveLength(1);
    service.server.fault = null;
    expect(await pager.trigger(page, never)).toEqual({ ok: true });
    expect(service.ever()).toBe(1);
  });

  test('that never answers is given up, and so when Sentry stops', async () => {
    service.server.fault = { kind: 'hang' };
    expect(await createPager(service.config, 100).trigger(page, never)).toMatchObject({
      ok: false,
      retryable: true,
      reason: expect.stringMatching(/did not answer in 0\.1 s/),
    });
    const stopping = new AbortController();
    const told = pager.trigger(page, stopping.signal);
    await expect.poll(() => service.server.requests.length).toBe(2);
    stopping.abort();
    expect(await told).toMatchObject({ ok: false, retryable: true, reason: expect.stringMatching(/stops/) });
    expect(await pager.trigger(page, stopping.signal)).toMatchObject({ ok: false, retryable: true });
    expect(service.ever()).toBe(0);
  });

  test.each([
    ['30', 30_000],
    ['0', 0],
    ['999999', 3_600_000],
    ['soon', undefined],
    ['Mon, 01 Jan 2024 00:00:00 GMT', 0],
  ])('is left alone for as long as it asks: Retry-After: %s', async (retryAfter, retryAfterMs) => {
    service.server.fault = { kind: '429', retryAfter };
    const delivered = await pager.trigger(page, never);
    expect(delivered).toMatchObject({ ok: false, retryable: true, reason: expect.stringMatching(/429/) });
    expect(delivered).toEqual(
      expect.objectContaining(retryAfterMs === undefined ? { ok: false } : { retryAfterMs }),
    );
  });

  test('does not take Sentry elsewhere with its key', async () => {
    service.server.fault = { kind: 'redirect' };
    expect(await pager.trigger(page, never)).toMatchObject({
      ok: false,
      retryable: false,
      reason: expect.stringMatching(/does not follow/),
    });
    expect(service.server.requests).toHaveLength(1);
  });

  test('whose key is wrong says where the right one is, and never the key', async () => {
    const key = service.config.key.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const delivered = await createPager({ ...service.config, key }).trigger(page, never);
    expect(delivered).toMatchObject({
      ok: false,
      retryable: false,
      reason: expect.stringMatching(/does not take Sentry's key \(4\d\d\)\. \w.* \w/),
    });
    expect(JSON.stringify(delivered)).not.toContain(key);
  });

  test('that refuses a page is quoted, in bounds and without the key', async () => {
    const said = `no such thing ${service.config.key} ${'y'.repeat(3 * 1024 * 1024)}`;
    service.server.fault = { kind: 'answer', status: 400, body: `{"message":"no ${service.config.key}"}` };
    const short = await pager.trigger(page, never);
    expect(short).toMatchObject({
      ok: false,
      retryable: false,
      reason: expect.stringMatching(/refuses it \(400\): .*no/),
    });
    service.server.fault = { kind: 'answer', status: 400, body: said };
    const endless = await pager.trigger(page, never);
    expect(endless).toMatchObject({ ok: false, retryable: false });
    for (const told of [short, endless]) {
      expect(JSON.stringify(told)).not.toContain(service.config.key);
      expect(JSON.stringify(told).length).toBeLessThan(1_000);
    }
  });
});

test('docs/escalation.md shows what a webhook is sent', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/escalation.md'), 'utf8');
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(text) ?? [];
  expect(WebhookMessage.safeParse(JSON.parse(example)).error).toBeUndefined();
});
