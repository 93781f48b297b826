import { afterEach, describe, expect, test } from 'vitest';
import { type Alert, severities } from '../../../src/core/alert.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { webhookRoutes } from '../../../src/http/webhook-route.ts';
import { lockWordsOf, toldBy } from '../../../src/ingest/correlate.ts';
import { redactAlert } from '../../../src/ingest/redact-alert.ts';
import { quiet } from '../../support/quiet.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** What a sender posts to a running server, and what becomes of it. */
async function post(source: string, body: string) {
  const accepted: Alert[] = [];
  const routes = webhookRoutes({
    accept: async (alert) => {
      accepted.push(alert);
      return { kind: 'opened', incidentId: asIncidentId(`INC-${accepted.length}`) };
    },
    secret: null,
    ownSecrets: new Map(),
    log: quiet,
  });
  const http = createHttpServer({ host: '127.0.0.1', port: 0, routes, log: quiet });
  const { port } = await http.listen();
  closing.push(() => http.close(0));
  const answer = await fetch(`http://127.0.0.1:${port}/webhooks/${source}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  return { status: answer.status, body: (await answer.json()) as { error?: string }, accepted };
}

const group = (count: number, padding = '') => ({
  groupKey: '{}:{}',
  alerts: Array.from({ length: count }, (_, n) => ({
    status: 'firing',
    labels: { alertname: 'DiskFull', host: `web-${n}` },
    annotations: { summary: padding },
    startsAt: '2026-03-01T12:00:00Z',
  })),
});

describe('a delivery of any size [V1]', () => {
  test.each(['grafana', 'generic', 'alertmanager'])(
    'of 2,000 alerts of %s is taken whole',
    async (source) => {
      const { status, accepted } = await post(source, JSON.stringify(group(2_000, 'x'.repeat(500))));
      expect([status, accepted.length]).toEqual([202, 2_000]);
    },
  );

  test('lets everything else go on while it is read', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await post('grafana', JSON.stringify(group(2_000)));
    clearInterval(timer);
    // In one go there are hardly any.
    expect(turns).toBeGreaterThan(15);
  });

  const words = 'word '.repeat(300_000);
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`label${n}`, `value${n}`]));
  test.each([
    ['a name', { alertname: words }],
    ['labels', { alertname: 'DiskFull', ...many }],
    ['a label', { alertname: 'DiskFull', host: words }],
  ])('is worked on within bounds, however long %s', async (_what, labels) => {
    const delivery = { alerts: [{ ...group(1).alerts[0], labels, annotations: many }] };
    const { status, accepted } = await post('alertmanager', JSON.stringify(delivery));
    expect(status).toBe(202);
    const alert = redactAlert(accepted[0] as Alert);
    const told = toldBy(alert, false);
    expect(JSON.stringify({ alert, told, words: lockWordsOf(told) }).length).toBeLessThan(500_000);
  });

  test('two that differ only beyond what is kept are two problems', async () => {
    const [a, b] = await Promise.all(
      ['a', 'b'].map(async (end) => {
        const labels = { alertname: 'DiskFull', host: `${words}${end}` };
        const { accepted } = await post('alertmanager', JSON.stringify({ alerts: [{ labels }] }));
        return accepted[0];
      }),
    );
    expect(a?.fingerprint).not.toBe(b?.fingerprint);
  });

  test('nested a hundred thousand times is refused in words', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const source of ['alertmanager', 'generic', 'cloudwatch', 'robusta']) {
      const { status, body } = await post(source, `{"title": "x", "deep": ${deep}}`);
      expect([source, status, body.error]).toEqual([source, 400, expect.stringContaining('nested')]);
    }
  });
});

describe('what a sender writes [V2]', () => {
  test.each(['constructor', '__proto__', 'toString'])('%s is no severity of ours', async (severity) => {
    const { status, accepted } = await post('generic', JSON.stringify({ title: 'Disk full', severity }));
    expect([status, severities.includes(accepted[0]?.severity as never)]).toEqual([202, true]);
  });

  test.each(['1e400', '-1e400'])('the number %s keeps no alert out', async (number) => {
    for (const source of ['generic', 'grafana', 'alertmanager']) {
      const body = `{"alerts": [{"status": "firing", "labels": {"alertname": "A"}, "values": {"A": ${number}}}]}`;
      expect([source, (await post(source, body)).status]).toEqual([source, 202]);
    }
  });

  test('the mark that Windows puts before a text keeps no alert out', async () => {
    expect((await post('generic', `\uFEFF${JSON.stringify({ title: 'Disk full' })}`)).status).toBe(202);
  });

  test.each([
    ['generic', { title: { a: 1 } }],
    ['cloudwatch', { AlarmName: 7, AlarmArn: [], NewStateValue: 'ALARM' }],
    ['robusta', 7],
  ])('%s that cannot be read is refused in words', async (source, payload) => {
    const { status, body } = await post(source, JSON.stringify(payload));
    expect(status).toBe(400);
    expect(body.error).not.toContain('[object');
  });
});
