import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Target } from '../../../src/core/target.ts';
import { type Accept, createAccept } from '../../../src/ingest/accept.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { slackAlert, webhookAlert } from '../../support/alerts.ts';
import { domainOf } from '../../support/targets.ts';

const target = (name: string): Target => ({
  name,
  kind: 'postgres',
  domain: 'postgres',
  environment: 'test',
  aliases: [],
});

let db: AcceptDatabase;
let accept: Accept;
beforeAll(async () => {
  db = await acceptDatabase(8);
  accept = createAccept(db.sql, [target('orders-db'), target('shop-web')], domainOf);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
});

const take = (message: object) => accept(slackAlert(message));
const titles = async () =>
  (
    await db.sql`SELECT title, target, severity, source_resolved_at IS NOT NULL AS over FROM incident ORDER BY opened_at`
  ).map((row) => ({ ...row }));

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
const button = (text: string, url: string) => ({
  type: 'button',
  text: { type: 'plain_text', text },
  action_id: text,
  url,
});

describe('Robusta [H2]', () => {
  type Finding = {
    readonly title: string;
    readonly resolved?: boolean;
    readonly severity?: string;
    readonly description?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  const platform = 'https://platform.example/a-1/?finding_id=5f1c&cluster=prod';

  /** src/robusta/integrations/slack/sender.py since 0.10.22. */
  const now = ({ title, resolved = false, severity = 'High', description, labels }: Finding) => ({
    text: resolved ? `[RESOLVED] ${title}` : title,
    username: 'robusta',
    blocks: [
      section(
        `${resolved ? ':white_check_mark: *Prometheus resolved*' : ':fire: `Prometheus Alert Firing` :fire:'} :red_circle: *${severity}*\n<${platform}|*${title}*>`,
      ),
      { type: 'actions', elements: [button('Investigate :mag_right:', platform)] },
      section('*Source:* `prod`'),
      ...(description ? [section(`:rotating_light: *Alert:* ${description}`)] : []),
      { type: 'divider' },
    ],
    attachments: labels
      ? [
          {
            color: '#EF311F',
            blocks: [
              section(
                `*Alert labels* \n${Object.entries(labels)
                  .map(([name, value]) => `● ${name} \`${value}\``)
                  .join('\n')}`,
              ),
            ],
          },
        ]
      : [],
  });
  /** Before: one line, without the platform. */
  const before = ({ title, resolved = false, severity = 'high', description = '' }: Finding) => ({
    text: title,
    blocks: [
      section(
        `${resolved ? ':white_check_mark: `resolved`' : ':fire: `firing`'} :red_circle: \`${severity}\` ${title}`,
      ),
      section('*Source:* `prod`'),
      section(`:rotating_light: *Alert:* ${description}`),
    ],
  });

  test.each([
    ['now', now],
    ['before', before],
  ])(
    '%s: two findings are two incidents, titled without marks, and each is closed by its own end',
    async (_when, draw) => {
      const crash = {
        title: 'KubePodCrashLooping',
        description: 'Pod shop/api-7d9f restarts 3.2 times in 5 minutes',
      };
      const node = { title: 'KubeNodeNotReady', description: 'Node ip-10-0-1-7 has been unready' };
      const first = await take(draw(crash));
      await take(draw(node));
      expect(await titles()).toMatchObject([
        { title: 'KubePodCrashLooping', severity: 'error', over: false },
        { title: 'KubeNodeNotReady', severity: 'error', over: false },
      ]);
      const end = {
        ...crash,
        resolved: true,
        description: 'Pod shop/api-7d9f restarts 0.1 times in 5 minutes',
      };
      expect(await take(draw(end))).toEqual({ kind: 'resolved', incidentId: first.incidentId });
      expect(await titles()).toMatchObject([{ over: true }, { over: false }]);
    },
  );

  test('one title of two pods is two incidents, told apart by labels or by what is said of them', async () => {
    const pod = (name: string) => ({
      title: 'Pod is crash looping.',
      labels: { alertname: 'KubePodCrashLooping', pod: name },
    });
    const said = (name: string) => ({ title: 'Pod is slow.', description: `Pod ${name} answers in 2.5s` });
    for (const finding of [pod('api-1'), pod('api-2'), said('api-1'), said('api-2')])
      await take(now(finding));
    expect(await titles()).toHaveLength(4);
    expect((await take(now({ ...pod('api-2'), resolved: true }))).kind).toBe('resolved');
    expect((await titles()).map((row) => (row as unknown as { over: boolean }).over)).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  test('joins the webhook of its alert by the labels it lists, whichever comes first, and finds the target', async () => {
    const labels = { alertname: 'PostgresDown', instance: 'orders-db', severity: 'critical' };
    for (const order of [
      [webhookAlert(labels), slackAlert(now({ title: 'Postgres is down', labels }))],
      [slackAlert(now({ title: 'Postgres is down', labels })), webhookAlert(labels)],
    ]) {
      await db.sql`TRUNCATE incident, alert, event, alert_end CASCADE`;
      for (const alert of order) await accept(alert);
      expect(await titles()).toMatchObject([{ target: 'orders-db', severity: 'critical' }]);
    }
  });

  test('tells an event of Kubernetes from an alert', async () => {
    await take({
      text: 'x',
      blocks: [
        section(
          ':eyes: *K8s event detected* :large_yellow_circle: *Medium*\n*Deployment shop-web has no replicas*',
        ),
        section('*Source:* `prod`'),
      ],
    });
    expect(await titles()).toMatchObject([
      { title: 'Deployment shop-web has no replicas', severity: 'warning', target: 'shop-web' },
    ]);
  });
});

describe('Uptime Kuma [H2]', () => {
  const text = (
    monitor: string,
    up: boolean,
    said: string,
    mark = up ? ':white_check_mark:' : ':red_circle:',
  ) => `[${monitor}] [${mark} ${up ? 'Up' : 'Down'}] ${said}`;

  /** server/notification-providers/slack.js, 1.x: the header is the same for all monitors. */
  const one = (monitor: string, up: boolean, said: string, id?: number) => ({
    text: `Uptime Kuma Alert\n${text(monitor, up, said)}`,
    username: 'Uptime Kuma',
    attachments: [
      {
        color: up ? '#2eb886' : '#e01e5a',
        blocks: [
          { type: 'header', text: { type: 'plain_text', text: 'Uptime Kuma Alert' } },
          {
            type: 'section',
            fields: [
              { type: 'mrkdwn', text: `*Message*\n${text(monitor, up, said)}` },
              { type: 'mrkdwn', text: '*Time (UTC)*\n2026-11-22 10:31:07' },
            ],
          },
          ...(id === undefined
            ? []
            : [
                {
                  type: 'actions',
                  elements: [button('Visit Uptime Kuma', `https://kuma.example/dashboard/${id}`)],
                },
              ]),
        ],
      },
    ],
  });
  /** 2.x: the header is the monitor's name. */
  const two = (monitor: string, up: boolean, said: string, id = 7) => ({
    text: text(monitor, up, said),
    attachments: [
      {
        blocks: [
          { type: 'header', text: { type: 'plain_text', text: monitor } },
          {
            type: 'section',
            fields: [
              { type: 'mrkdwn', text: `*Message*\n${text(monitor, up, said, up ? '✅' : '🔴')}` },
              { type: 'mrkdwn', text: '*Time (Europe/Berlin)*\n2026-11-22 11:31:07' },
            ],
          },
          {
            type: 'actions',
            elements: [
              button('Visit Uptime Kuma', `https://kuma.example/dashboard/${id}`),
              button('Visit site', 'https://orders-db:5432'),
            ],
          },
        ],
      },
    ],
  });
  const plain = (monitor: string, up: boolean, said: string) => ({
    text: `${text(monitor, up, said)} <!channel>`,
  });

  test.each([
    ['1.x', one],
    ['2.x', two],
    ['plain', plain],
  ])('%s: each monitor is its own incident, and Up ends what Down began', async (_version, draw) => {
    const first = await take(draw('orders-db', false, 'connect ECONNREFUSED 10.0.0.7:5432'));
    await take(draw('shop-web', false, 'timeout of 48000ms exceeded'));
    expect(await take(draw('orders-db', false, 'connect ETIMEDOUT'))).toEqual({
      kind: 'repeated',
      incidentId: first.incidentId,
    });
    expect(await titles()).toMatchObject([
      { title: 'orders-db is down', target: 'orders-db', severity: 'error', over: false },
      { title: 'shop-web is down', target: 'shop-web', over: false },
    ]);
    expect(await take(draw('orders-db', true, '200 - OK'))).toEqual({
      kind: 'resolved',
      incidentId: first.incidentId,
    });
    expect(await titles()).toMatchObject([{ over: true }, { over: false }]);
  });

  test('two monitors of one name are told apart by their number, names with brackets are whole', async () => {
    await take(one('api [eu] v2', false, 'timeout', 3));
    await take(one('api [eu] v2', false, 'timeout', 4));
    await take(one('api [us] v2', false, 'timeout', 5));
    expect(await titles()).toMatchObject([
      { title: 'api [eu] v2 is down' },
      {},
      { title: 'api [us] v2 is down' },
    ]);
    expect((await take(one('api [eu] v2', true, '200 - OK', 4))).kind).toBe('resolved');
    expect(await titles()).toMatchObject([{ over: false }, { over: true }, { over: false }]);
  });

  test('an end that nobody heard begin opens nothing', async () => {
    expect((await take(one('orders-db', true, '200 - OK'))).kind).toBe('orphan_resolved');
  });
});

describe('Grafana', () => {
  type Labels = Readonly<Record<string, string>>;
  const listed = (labels: Labels) =>
    `\nValue: A=12, C=1\nLabels:\n${Object.entries(labels)
      .map(([name, value]) => ` - ${name} = ${value}\n`)
      .join(
        '',
      )}Annotations:\n - summary = It is so\nSource: https://grafana.example/alerting/grafana/u1/view\nSilence: https://grafana.example/alerting/silence/new\n`;
  /** grafana/alerting receivers/slack and templates/default_template.go. */
  const message = (alerts: readonly Labels[], mark: string, groupBy: readonly string[] = ['alertname']) => {
    const [first = {}] = alerts;
    const shared = Object.entries(first).filter(([name, value]) =>
      alerts.every((labels) => labels[name] === value),
    );
    const values = (inGroup: boolean) =>
      shared.filter(([name]) => groupBy.includes(name) === inGroup).map(([, value]) => value);
    return {
      attachments: [
        {
          title: `[${mark}] ${values(true).join(' ')} (${values(false).join(' ')})`,
          title_link: 'https://grafana.example/alerting/grafana/u1/view',
          text: `**${mark.startsWith('FIRING') ? 'Firing' : 'Resolved'}**\n${alerts.map(listed).join('')}`,
          fallback: 'x',
          footer: 'Grafana v11.2.0',
          color: '#D63232',
        },
      ],
    };
  };
  const tx = (state: string) => ({
    alertname: 'Long transaction',
    grafana_folder: 'Postgres alerts',
    instance: 'orders-db:5432',
    severity: 'critical',
    state,
  });

  test('names, labels, severity and target are what it lists; values within values are other alerts', async () => {
    await take(message([tx('idle')], 'FIRING:1'));
    await take(message([tx('idle in transaction')], 'FIRING:1'));
    expect(await titles()).toMatchObject([
      { title: 'Long transaction', target: 'orders-db', severity: 'critical' },
      { title: 'Long transaction', target: 'orders-db' },
    ]);
    expect((await take(message([tx('idle')], 'RESOLVED'))).kind).toBe('resolved');
    expect(await titles()).toMatchObject([{ over: true }, { over: false }]);
  });

  test('joins the webhook of its alert, whichever comes first, and of no other', async () => {
    const other = webhookAlert(tx('idle'));
    for (const order of [
      [
        webhookAlert(tx('idle in transaction')),
        slackAlert(message([tx('idle in transaction')], 'FIRING:1', [])),
      ],
      [
        slackAlert(message([tx('idle in transaction')], 'FIRING:1', [])),
        webhookAlert(tx('idle in transaction')),
      ],
    ]) {
      await db.sql`TRUNCATE incident, alert, event, alert_end CASCADE`;
      await accept(other);
      for (const alert of order) await accept(alert);
      expect(await titles()).toHaveLength(2);
    }
  });

  test('a message of several alerts joins what the webhook opened', async () => {
    for (const state of ['idle', 'active']) await accept(webhookAlert(tx(state)));
    await take(message([tx('idle'), tx('active')], 'FIRING:2'));
    await take(message([tx('idle'), tx('active')], 'FIRING:1, RESOLVED:1'));
    expect(await titles()).toHaveLength(2);
  });
});

describe('any other app', () => {
  test.each([
    ['*OperationalError*', 'OperationalError'],
    ['Triggered: *orders-db query time above 5 s*', 'orders-db query time above 5 s'],
    ['Triggered: `pg_stat_x` is _very_ ~high~ slow', 'pg_stat_x is very high slow'],
    ['Triggered: 2*3*4 of snake_case_name and a_b', '2*3*4 of snake_case_name and a_b'],
  ])('%s is titled %s', async (text, title) => {
    await take({ text });
    expect(await titles()).toMatchObject([{ title }]);
  });
});
