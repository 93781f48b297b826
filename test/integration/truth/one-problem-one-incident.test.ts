import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import type { Target } from '../../../src/core/target.ts';
import { type Accept, createAccept } from '../../../src/ingest/accept.ts';
import { sameProblem, toldBy } from '../../../src/ingest/correlate.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { alertmanagerMessage } from '../../support/alertmanager-title.ts';
import { slackAlert, webhookAlert } from '../../support/alerts.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';

const targets: readonly Target[] = [
  { name: 'orders-db', kind: 'postgres', domain: 'postgres', environment: 'test', aliases: [] },
];

let db: AcceptDatabase;
let accept: Accept;
beforeAll(async () => {
  db = await acceptDatabase(16);
  accept = createAccept(db.sql, targets, domainOf);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
});

const incidents = () => db.sql<Row>`SELECT * FROM incident ORDER BY opened_at`;
const count = async () => (await incidents()).length;

/** Different alerts, each like another: the same first word, a value within a value, the same values under other labels. */
const zoo: readonly Readonly<Record<string, string>>[] = [
  { alertname: 'High Latency', service: 'orders-db', severity: 'critical' },
  { alertname: 'High Latency', service: 'orders-db', severity: 'critical', zone: 'b' },
  { alertname: 'High', service: 'Latency', severity: 'critical' },
  { alertname: 'High Error Rate', service: 'orders-db', severity: 'critical' },
  { alertname: 'Postgres down in dc1', severity: 'warning' },
  { alertname: 'Postgres down in dc2', severity: 'warning' },
  { alertname: 'Postgres', severity: 'critical' },
  { alertname: 'pg_long_tx', state: 'idle in transaction', prometheus: 'peers', severity: 'warning' },
  { alertname: 'pg_long_tx', state: 'idle', prometheus: 'peers', severity: 'warning' },
  {
    alertname: 'pg_long_tx',
    state: 'idle in transaction (aborted)',
    prometheus: 'peers',
    severity: 'warning',
  },
  { alertname: 'LinkDown', src: 'a', dst: 'b' },
  { alertname: 'LinkDown', src: 'b', dst: 'a' },
  { alertname: 'MQFull (Message queue is full)', queue: 'queue1', severity: 'page' },
  { alertname: 'MQFull', queue: 'queue1', severity: 'page' },
  { alertname: 'DiskFull', instance: 'orders-db:9100', mountpoint: '/', severity: 'warning' },
  { alertname: 'DiskFull', instance: 'orders-db:9100', mountpoint: '/data', severity: 'warning' },
  { alertname: 'DiskFull', instance: 'orders-db:9100', severity: 'warning' },
  { alertname: 'CPU > 80 %', host: 'web-1', severity: 'warning' },
  { alertname: 'CPU < 80 %', host: 'web-1', severity: 'warning' },
  { alertname: 'Error', level: 'error', service: 'error', severity: 'error' },
  { alertname: '🔥 Burn & <rate>', slo: 'checkout "99.9"', severity: 'critical' },
  { alertname: 'The end is near', team: 'the a team', severity: 'info' },
  { alertname: 'Quote', path: '/api/*', sql: 'SELECT 1;', severity: 'warning' },
];
const groupings: readonly (readonly string[])[] = [
  ['alertname'],
  ['alertname', 'severity', 'service'],
  [],
  ['severity'],
  ['instance', 'queue', 'state'],
];
const webhooks = () => zoo.map((labels) => only(webhookAlert(labels), labels));
const messages = (groupBy: readonly string[], mark?: string) =>
  zoo.map((labels) => slackAlert(asSlackStores(alertmanagerMessage(labels, groupBy, mark))));

/** The webhook helper adds a severity where there is none. */
function only(alert: Alert, labels: Readonly<Record<string, string>>): Alert {
  return { ...alert, labels };
}

/** Slack keeps these three escaped, and an emoji by its name. */
function asSlackStores(message: object): object {
  return JSON.parse(
    JSON.stringify(message, (key, value: unknown) =>
      typeof value === 'string' && (key === 'title' || key === 'fallback')
        ? value
            .replaceAll('&', '&amp;')
            .replaceAll('<', '&lt;')
            .replaceAll('>', '&gt;')
            .replaceAll('🔥', ':fire:')
        : value,
    ),
  ) as object;
}

describe.each(groupings.map((groupBy) => ({ groupBy, by: groupBy.join(', ') || 'nothing' })))(
  "Alertmanager's webhook and default Slack message, grouped by $by",
  ({ groupBy }) => {
    test('join per alert, the webhook first, and no two alerts become one', async () => {
      const opened = await Promise.all(webhooks().map(accept));
      expect(await count()).toBe(zoo.length);
      const joined: unknown[] = [];
      for (const message of messages(groupBy).toReversed()) joined.unshift(await accept(message));
      expect(joined).toEqual(opened.map(({ incidentId }) => ({ kind: 'repeated', incidentId })));
      const ended: unknown[] = [];
      for (const message of messages(groupBy, 'RESOLVED')) ended.push(await accept(message));
      expect(ended).toEqual(opened.map(({ incidentId }) => ({ kind: 'resolved', incidentId })));
    });

    test('join per alert, the message first, and no two alerts become one', async () => {
      const opened: Awaited<ReturnType<Accept>>[] = [];
      for (const message of messages(groupBy)) opened.push(await accept(message));
      expect(opened.map(({ kind }) => kind)).toEqual(zoo.map(() => 'opened'));
      const joined = await Promise.all(webhooks().toReversed().map(accept));
      expect(joined.toReversed()).toEqual(opened.map(({ incidentId }) => ({ kind: 'repeated', incidentId })));
      expect((await incidents()).map((row) => row['alert_name'])).toEqual(
        zoo.map(({ alertname }) => alertname),
      );
    });

    test('pair by pair: the message of one alert never fits another', () => {
      const told = messages(groupBy).map((alert) => toldBy(alert, true));
      const known = webhooks().map((alert) => toldBy(alert, false));
      for (const [m, message] of told.entries())
        for (const [w, webhook] of known.entries()) {
          const sure = sameProblem(message, webhook);
          expect({ m, w, sure: m === w ? sure : Math.max(0, sure) }).toEqual({ m, w, sure: m === w ? 2 : 0 });
        }
    });
  },
);

test('the rule in the database is the rule in the code', async () => {
  const told = [
    ...webhooks().map((alert) => toldBy(alert, false)),
    ...groupings.flatMap((groupBy) => messages(groupBy).map((alert) => toldBy(alert, true))),
    ...['FIRING:3', 'RESOLVED'].flatMap((mark) => messages([], mark).map((alert) => toldBy(alert, true))),
    ...[
      '[FIRING:1] High Latency on orders-db',
      '[FIRING:2] DiskFull (warning)',
      'Alarm: DiskFull on orders-db',
    ].map((title) => toldBy(slackAlert({ text: title }), true)),
    ...['PGR0VU2', 'PGR0VU3'].map((id) =>
      toldBy(
        slackAlert({
          bot_profile: { name: 'PagerDuty' },
          text: `Triggered: DiskFull https://example.pagerduty.com/incidents/${id}`,
        }),
        true,
      ),
    ),
  ];
  const rows = await db.sql<{ a: number; b: number; sure: number }>`
    WITH t AS (SELECT v, n::int FROM jsonb_array_elements(${db.sql.json(told as never)}) WITH ORDINALITY AS x (v, n))
    SELECT a.n - 1 AS a, b.n - 1 AS b, sentry_same_problem(a.v, b.v) AS sure FROM t AS a, t AS b WHERE a.n < b.n`;
  const differ = rows.filter(({ a, b, sure }) => {
    const [one, other] = [told[a], told[b]];
    return !one || !other || sameProblem(one, other) !== sure;
  });
  expect(differ).toEqual([]);
  expect(new Set(rows.map(({ sure }) => sure))).toEqual(new Set([0, 1, 2, -1]));
});

describe('a message of several alerts', () => {
  const disk = (instance: string) => ({ alertname: 'DiskFull', instance, severity: 'warning' });
  const group = (mark: string) =>
    slackAlert(alertmanagerMessage({ alertname: 'DiskFull', severity: 'warning' }, ['alertname'], mark));

  test('joins what the webhook opened and opens nothing', async () => {
    for (const instance of ['a', 'b', 'c']) await accept(webhookAlert(disk(instance)));
    expect((await accept(group('FIRING:3'))).kind).toBe('repeated');
    expect(await count()).toBe(3);
  });

  test('opens one incident when it comes first, which one of its alerts joins', async () => {
    await accept(group('FIRING:3'));
    for (const instance of ['a', 'b', 'c']) await accept(webhookAlert(disk(instance)));
    expect(await count()).toBe(3);
  });

  test('counts one that fires beside one that has ended: what it shows is what both share', async () => {
    for (const instance of ['a', 'b']) await accept(webhookAlert(disk(instance)));
    expect((await accept(group('FIRING:1'))).kind).toBe('repeated');
  });

  test('is another alert where it says all there is and one alert is known that says more', async () => {
    await accept(webhookAlert(disk('a')));
    expect((await accept(group('FIRING:1'))).kind).toBe('opened');
  });
});

test('a message and a webhook of an alert with spaces that come at one moment are one incident [H1]', async () => {
  const labels = zoo[0] ?? {};
  for (let round = 0; round < 15; round += 1) {
    await db.sql`TRUNCATE incident, alert, event, alert_end CASCADE`;
    await Promise.all([
      accept(webhookAlert(labels)),
      accept(slackAlert(alertmanagerMessage(labels, ['alertname']))),
      accept(webhookAlert({ alertname: 'High Load', service: 'orders-db' })),
    ]);
    expect(await count()).toBe(2);
  }
});

test('a warning that becomes critical stays one incident, told by either', async () => {
  const at = (severity: string) => ({ alertname: 'High Latency', service: 'orders-db', severity });
  await accept(webhookAlert(at('warning')));
  for (const severity of ['warning', 'critical'])
    await accept(slackAlert(alertmanagerMessage(at(severity), ['alertname'])));
  await accept(webhookAlert(at('critical')));
  expect(await incidents()).toMatchObject([{ severity: 'critical' }]);
});

test("a message's severity and target are its own, whatever the rule is called", async () => {
  await accept(
    slackAlert(
      alertmanagerMessage(
        { alertname: 'Postgres down in dc1', instance: 'orders-db:5432', severity: 'warning' },
        ['alertname'],
      ),
    ),
  );
  expect(await incidents()).toMatchObject([{ severity: 'warning', target: 'orders-db', domain: 'postgres' }]);
});

test('the webhook fills in the target that a message could not name', async () => {
  const labels = { alertname: 'High Latency', instance: 'x', severity: 'critical' };
  await accept(slackAlert(alertmanagerMessage(labels, ['alertname'])));
  expect(await incidents()).toMatchObject([{ target: null, alert_name: null }]);
  await accept({ ...webhookAlert(labels), target: 'orders-db' });
  expect(await incidents()).toMatchObject([{ target: 'orders-db', alert_name: 'High Latency' }]);
});

test('an edit from firing to resolved ends the incident of the message, though the group shows other labels by then', async () => {
  const shown = (labels: Record<string, string>, mark: string) => ({
    bot_id: 'B0AM',
    ...alertmanagerMessage(labels, ['alertname'], mark),
  });
  const first = slackAlert(shown({ alertname: 'Disk Full', instance: 'a', severity: 'warning' }, 'FIRING:1'));
  const { incidentId } = await accept(first);
  const ts = first.deliveryKey.split(':')[2] ?? '';
  const before = shown({ alertname: 'Disk Full', instance: 'a', severity: 'warning' }, 'FIRING:1');
  const now = shown({ alertname: 'Disk Full', severity: 'warning' }, 'RESOLVED');
  const edit = slackAlert(
    {
      subtype: 'message_changed',
      bot_id: undefined,
      message: { ...now, ts },
      previous_message: { ...before, ts },
    },
    new Date(Date.now() + 2000),
  );
  expect(await accept(edit)).toEqual({ kind: 'resolved', incidentId });
});
