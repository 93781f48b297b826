import { expect, test } from 'vitest';
import { slackMessage } from '../../../src/sources/slack-message/index.ts';

/** Synthetic: written after the forms that the senders' own sources and documentation show. */
const read = (content: object) => {
  const message = { type: 'message', channel: 'C1', bot_id: 'B1', ts: '1772366280.000100', text: '' };
  const answer = slackMessage.read({ ...message, ...content }, { receivedAt: new Date(0) });
  if (!answer.ok) throw new Error(`${answer.field}: ${answer.reason}`);
  return answer.alerts[0] ?? null;
};
const titled = (title: string, rest: object = {}) => ({ attachments: [{ title, ...rest }] });
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
const monitor = { title_link: 'https://app.datadoghq.com/monitors/12' };
const lambda = (state: string, color: string) => ({
  attachments: [
    {
      color,
      fallback: 'Alarm orders-5xx triggered',
      fields: [
        { title: 'Alarm Name', value: '`orders-5xx`' },
        { title: 'Current State', value: `\`${state}\`` },
        { title: 'Link to Alarm', value: 'https://console.aws.example/alarm' },
      ],
    },
  ],
});
const checkmk = (type: string, state: string) => ({
  attachments: [
    {
      title: `Service ${type} notification`,
      text: `Host: <https://m.example/h|db-1> (IP: 192.0.2.7)\nService: CPU load\nState: ${state}`,
    },
    { title: 'Additional Info', text: '15 min load 12\nPlease take a look: @ops' },
  ],
});
const argo = (text: string) => ({
  text,
  ...titled('shop', { color: '#18be52', title_link: 'https://argo.example/applications/shop' }),
});

test.each([
  ['Warn: CPU on host:web-1', 'firing', 'warning'],
  ['Re-Warn: CPU on host:web-1', 'firing', 'warning'],
  ['No data: CPU on host:web-1', 'firing', 'unknown'],
  ['[P1] [Warn on {host:web-1}] CPU', 'firing', 'critical'],
  ['[No data on {host:web-1}] CPU', 'firing', 'unknown'],
  ['Recovered from Warn: CPU on host:web-1', 'resolved', 'unknown'],
  ['[P2] [Recovered on {host:web-1}] CPU', 'resolved', 'error'],
])('Datadog’s words for a state are no part of the name: %s', (title, status, severity) => {
  const alert = read(titled(title, monitor));
  expect(alert).toMatchObject({ title: 'CPU', status, severity, target: 'web-1' });
  expect(alert?.fingerprint).toBe(read(titled('Triggered: CPU on host:web-1', monitor))?.fingerprint);
});

test('what is only tried is a problem of its own, with the state it says', () => {
  const real = read(titled('Triggered: CPU on host:web-1', monitor));
  expect(read(titled('[TEST] Recovered: CPU on host:web-1', monitor))?.status).toBe('resolved');
  expect(read(titled('[TEST] Triggered: CPU on host:web-1', monitor))?.fingerprint).not.toBe(
    real?.fingerprint,
  );
});

test('a bracket, a quotation mark and a foreign letter after the marker are the title’s', () => {
  expect(read({ text: 'Triggered: [Synthetics] Login' })?.title).toBe('[Synthetics] Login');
  expect(read({ text: 'Triggered: Задержка заказов' })?.title).toBe('Задержка заказов');
  expect(read({ text: ':exclamation:ALARM: 5xx of orders' })?.title).toBe('5xx of orders');
  expect(read({ text: '[PROBLEM] (High): CPU' })).toMatchObject({ title: 'CPU', severity: 'error' });
});

test('what Grafana’s older alerts measured is no label', () => {
  const begun = read(titled('[Alerting] Latency', { fields: [{ title: 'shop', value: 12.5 }] }));
  expect(begun?.labels).toEqual({});
  expect(read(titled('[OK] Latency'))).toMatchObject({
    status: 'resolved',
    fingerprint: begun?.fingerprint,
  });
});

test('Zabbix’s update is of the same problem', () => {
  const field = { fields: [{ title: 'Host', value: 'db-1 [192.0.2.7]' }] };
  expect(read(titled('Updated problem in 5m 2s: CPU', field))).toMatchObject({
    title: 'CPU',
    status: 'firing',
    fingerprint: read(titled('Problem: CPU', field))?.fingerprint,
  });
});

test('a state in a field is the message’s state, and a name in a field its name', () => {
  expect(read(lambda('ALARM', 'danger'))).toMatchObject({
    status: 'firing',
    title: 'orders-5xx',
    url: 'https://console.aws.example/alarm',
  });
  expect(read(lambda('OK', 'good'))).toMatchObject({ status: 'resolved', title: 'orders-5xx' });
  const azure = (condition: string) =>
    read({ text: `*Alert:* cpu-high\n*Monitor condition:* ${condition}\n*Target:* web-1` });
  expect(azure('Fired')).toMatchObject({ status: 'firing', target: 'web-1' });
  expect(azure('Resolved')).toMatchObject({ status: 'resolved', fingerprint: azure('Fired')?.fingerprint });
  expect(read({ text: 'PROBLEM: CPU\nTrigger severity: High' })?.severity).toBe('error');
});

const incident = 'https://shop.pagerduty.com/incidents/Q1ABCDE';
const alert = 'https://shop.app.opsgenie.com/alert/detail/052652ac-5d1c-464a-812a-7dd18bbfba8c';
const issue = 'https://shop.sentry.io/issues/4567890/?referrer=slack';
const gcp = 'https://console.cloud.google.com/monitoring/alerting/incidents/0.n5abcdef?project=shop';
const relic = 'https://radar.service.newrelic.com/accounts/1/issues/0ea2df1c-adab-45d2-aae0-042b609d2322';
const oncall = 'https://oncall.example/a/grafana-oncall-app/alert-groups/IABC1234';
const closed = 'https://alerts.newrelic.com/accounts/1/incidents/22';

test.each([
  ['firing', 'Disk full', { text: `Triggered <${incident}|#34>: Disk full` }],
  ['firing', 'Disk full', { text: `Ann acknowledged <${incident}|#34 Disk full>` }],
  ['resolved', 'Disk full', { text: `Ann resolved <${incident}|#34 Disk full>` }],
  ['firing', '[CPU] high', titled('#123: [CPU] high', { title_link: alert })],
  ['resolved', '[CPU] high', { text: `Ann closed alert <${alert}|#123: "[CPU] high">` }],
  [
    'firing',
    'TypeError: x',
    { blocks: [section(`<${issue}|*TypeError: x*>`), section('*Issue archived by <@U1>*')] },
  ],
  [
    'firing',
    'The incident was closed unexpectedly',
    titled('The incident was closed unexpectedly', { title_link: issue }),
  ],
  ['firing', 'CPU', titled('Alert firing', { title_link: gcp, text: '*CPU*\nis above 0.8' })],
  [
    'resolved',
    'CPU',
    titled('Incident #0.n5abcdef is resolved', {
      title_link: gcp,
      fields: [{ title: 'Policy', value: 'CPU' }],
    }),
  ],
  ['firing', 'CPU', { blocks: [section(`CRITICAL priority issue is ACTIVATED\n<${relic}|*CPU*>`)] }],
  ['firing', 'CPU', { blocks: [section(`CRITICAL priority issue is ACKNOWLEDGED\n<${relic}|*CPU*>`)] }],
  ['resolved', 'CPU', { blocks: [section(`CRITICAL priority issue is CLOSED\n<${relic}|*CPU*>`)] }],
  ['resolved', 'CPU', titled('CPU', { pretext: `<${closed}|Incident #22 closed>` })],
  ['firing', 'Lag', { blocks: [section(`*<${oncall}|#45 Lag>* via Alertmanager`)] }],
  [
    'resolved',
    'Lag',
    {
      blocks: [section(`*<${oncall}|#45 Lag>* via Alertmanager`)],
      attachments: [{ text: 'Resolved by alert source' }],
    },
  ],
  [
    'resolved',
    'orders-5xx',
    {
      blocks: [
        section(':white_check_mark: *CloudWatch Alarm | orders-5xx | eu-west-1 | Account: 123456789012*'),
      ],
    },
  ],
])('a sender that links to its alert: %s %s', (status, title, message) => {
  expect(read(message)).toMatchObject({ status, title });
});

test('says how bad it is in the sender’s own word', () => {
  expect(
    read({ blocks: [section(`CRITICAL priority issue is ACTIVATED\n<${relic}|*CPU*>`)] })?.severity,
  ).toBe('critical');
  expect(read({ text: `Triggered <${incident}|#34>: Disk full\n*Urgency:* High` })?.severity).toBe('error');
  const tags = section('environment: `production`  level: `error`  ');
  expect(read({ blocks: [section(`<${issue}|*TypeError: x*>`), tags] })).toMatchObject({
    severity: 'error',
    labels: { env: 'production', level: 'error' },
  });
});

test.each([
  ['CPU load', 'db-1', checkmk('PROBLEM', 'CRITICAL'), checkmk('RECOVERY', 'OK')],
  [
    'orders-5xx',
    'orders-5xx',
    { text: 'orders-5xx state is now ALARM: Threshold Crossed' },
    { text: 'OK: "orders-5xx" in EU (Ireland)' },
  ],
  [
    'cpu-high',
    'web-1',
    { text: 'Fired:Sev1 Azure Monitor Alert cpu-high on web-1 ( microsoft.compute/virtualmachines )' },
    { text: 'Resolved:Sev1 Azure Monitor Alert cpu-high on web-1 ( microsoft.compute/virtualmachines )' },
  ],
  [
    'cpu-high',
    'cpu-high',
    { text: 'cpu-high: Fired', attachments: [{ color: '#D22B2B', blocks: [section('_CPU_')] }] },
    { text: 'cpu-high: Resolved', attachments: [{ color: '#D22B2B', blocks: [section('_CPU_')] }] },
  ],
  [
    'Payment API',
    'Payment API',
    titled('Check ‘Payment API’ has failed', { title_link: 'https://app.checklyhq.com/checks/1' }),
    titled("Check 'Payment API' has recovered", { title_link: 'https://app.checklyhq.com/checks/1' }),
  ],
  [
    'shop login',
    'shop login',
    titled('shop login has failed', { title_link: 'https://app.checklyhq.com/checks/1' }),
    titled('shop login has recovered', { title_link: 'https://app.checklyhq.com/checks/1' }),
  ],
  [
    'shop',
    'shop',
    {
      attachments: [{ pretext: 'StatusCake Alert', text: 'Your site *shop* (https://s.example) is *Down*.' }],
    },
    { attachments: [{ pretext: 'StatusCake Alert', text: 'Your site *shop* (https://s.example) is *Up*.' }] },
  ],
])('what says it in one sentence begins and ends: %s', (name, target, begun, ended) => {
  const firing = read(begun);
  expect(firing).toMatchObject({ status: 'firing', name, target });
  expect(read(ended)).toMatchObject({ status: 'resolved', fingerprint: firing?.fingerprint });
});

test('a failed workflow of GitHub is an alert, and one that succeeded ends none', () => {
  const run = (word: string) =>
    read({ text: `Workflow run <https://github.com/shop/api/actions/runs/9|CI #45> ${word}` });
  expect(run('failed')).toMatchObject({ status: 'firing', name: 'CI', target: 'api', severity: 'error' });
  expect(run('succeeded')).toBeNull();
});

test('Argo CD’s failures are alerts, what began or succeeded is none', () => {
  for (const text of [
    ':exclamation: Application shop has degraded.',
    ':exclamation:  The sync operation of application shop has failed at 2026-03-01T10:00:00Z with an error',
    ":exclamation: Application shop sync is 'Unknown'.",
  ])
    expect(read(argo(text))).toMatchObject({ status: 'firing', severity: 'error', target: 'shop' });
  for (const text of [
    'Application shop has been successfully synced at 2026-03-01T10:00:00Z.',
    'The sync operation of application shop has started at 2026-03-01T10:00:00Z.',
    'Application shop is now running new version of deployments manifests.',
  ])
    expect(read(argo(text))).toBeNull();
});

test.each([
  ['a note', { text: `Ann added a note to <${incident}|#34 Disk full>: looks critical` }],
  ['a monitor that is muted', { text: '<https://app.datadoghq.com/monitors/12|CPU> was muted by Ann' }],
  ['an acknowledgement in Checkmk', checkmk('ACKNOWLEDGEMENT', 'CRITICAL')],
  ['a downtime in Checkmk', checkmk('DOWNTIMESTART', 'CRITICAL')],
  ['an alarm without data', lambda('INSUFFICIENT_DATA', 'warning')],
  ['Uptime Kuma’s trial', { text: 'Uptime Kuma Alert: Testing' }],
])('%s begins and ends nothing', (_what, message) => {
  expect(read(message)).toBeNull();
});

test('further down, what reads like an end or a note is of something else', () => {
  const told = titled('[FIRING:1] DiskFull (db-1)', {
    text: 'Yesterday: Resolved\nThe replica was muted by Ann\nAnn added a note to it',
  });
  expect(read(told)).toMatchObject({ status: 'firing', name: 'DiskFull' });
  expect(read({ text: 'Disk full on db-1: critical\nYesterday: Resolved' })).not.toMatchObject({
    status: 'resolved',
  });
});
