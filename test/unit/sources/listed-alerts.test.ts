import { expect, test } from 'vitest';
import { alertmanager } from '../../../src/sources/alertmanager/index.ts';
import { acceptedOf } from '../../../src/sources/ports.ts';
import { slackMessage } from '../../../src/sources/slack-message/index.ts';

const context = { receivedAt: new Date('2026-03-01T12:00:00Z') };
const posted = (title: string, text: string) => ({
  type: 'message',
  channel: 'C1',
  bot_id: 'B1',
  ts: '1772366280.000100',
  attachments: [{ title, text, color: 'danger', fallback: title }],
});

function read(payload: unknown) {
  const answer = slackMessage.read(payload, context);
  if (!answer.ok) throw new Error(answer.reason);
  return answer;
}

const detailed = (instances: readonly string[]) =>
  instances
    .map(
      (instance) =>
        `*Alert:* A disk fills - \`warning\`\n*Description:* It is at 91 % *Details:*\n • *alertname:* \`Disk Full\`\n • *instance:* \`${instance}\`\n • *job:* \`node\`\n • *severity:* \`warning\`\n`,
    )
    .join('\n');
const short = (instances: readonly string[]) =>
  instances.map((instance) => `*Severity:* warning\n*Instance:* ${instance}\n*Job:* node`).join('\n\n');
const selectors = (instances: readonly string[]) =>
  instances.map((instance) => `{alertname="Disk Full", instance="${instance}", job="node"}`).join('\n');
const listed = (instances: readonly string[]) =>
  `Labels:\n${instances
    .map((instance) => ` - alertname = Disk Full\n - instance = ${instance}\n - job = node\n`)
    .join('Labels:\n')}`;

test.each([
  ['with every label', detailed],
  ['with some of them', short],
  ['as selectors', selectors],
  ['as Alertmanager lists them elsewhere', listed],
])('a message of a group that lists its alerts %s tells of each', (_how, text) => {
  const { alerts, together } = read(posted('[FIRING:2] Disk Full (node)', text(['a:9100', 'b:9100'])));
  expect(alerts).toMatchObject([
    { status: 'firing', labels: { instance: 'a:9100', job: 'node' }, target: 'a:9100' },
    { status: 'firing', labels: { instance: 'b:9100', job: 'node' }, target: 'b:9100' },
  ]);
  expect(new Set(alerts.map(({ deliveryKey }) => deliveryKey)).size).toBe(2);
  expect(together).toMatchObject({ status: 'firing', labels: { job: 'node' }, headline: { alerts: 2 } });
  expect(together?.labels).not.toHaveProperty('instance');
});

test('each alert that is listed with every label has the fingerprint of its webhook', async () => {
  const labels = { alertname: 'Disk Full', instance: 'b:9100', job: 'node', severity: 'warning' };
  const told = await alertmanager.read({ alerts: [{ status: 'firing', labels }] }, context);
  const { alerts } = read(posted('[FIRING:2] Disk Full (node)', detailed(['a:9100', 'b:9100'])));
  expect(alerts[1]?.fingerprint).toBe(told.ok && told.alerts[0]?.fingerprint);
});

test('which of them are over is what stands above them', () => {
  const text = `*Alerts Firing:*\n${detailed(['a:9100'])}\n*Alerts Resolved:*\n${detailed(['b:9100'])}`;
  expect(read(posted('[FIRING:1, RESOLVED:1] Disk Full (node)', text)).alerts).toMatchObject([
    { status: 'firing', endsAt: null, labels: { instance: 'a:9100' } },
    { status: 'resolved', endsAt: '2026-03-01T11:58:00.000Z', labels: { instance: 'b:9100' } },
  ]);
  expect(read(posted('[RESOLVED] Disk Full (node)', detailed(['a:9100', 'b:9100']))).alerts).toMatchObject([
    { status: 'resolved' },
    { status: 'resolved' },
  ]);
});

test.each([
  ['it lists none', '[FIRING:2] Disk Full (node)', '*Summary:* Two disks fill'],
  ['it lists fewer than it counts', '[FIRING:3] Disk Full (node)', detailed(['a:9100', 'b:9100'])],
  [
    'it does not tell which are over',
    '[FIRING:1, RESOLVED:1] Disk Full (node)',
    detailed(['a:9100', 'b:9100']),
  ],
  ['they are told alike', '[FIRING:2] Disk Full (node)', detailed(['a:9100', 'a:9100'])],
  ['one is told of twice', '[RESOLVED] Disk Full (node)', `${short(['a:9100'])}\n${short(['a:9100'])}`],
  [
    'what stands above all of them is told of each as well',
    '[RESOLVED] Disk Full (node)',
    `*cluster:* prod\n${['a', 'b'].map((node) => `*alertname:* DiskFull\n*cluster:* prod\n*instance:* ${node}`).join('\n')}`,
  ],
  [
    'one of them lacks what the others tell',
    '[FIRING:2] Disk Full (prod)',
    '*alert:* PodDown\n*pod:* a\n*alert:* DbDown\n*instance:* b\n*alert:* PodDown\n*pod:* c\n*alert:* DbDown\n*instance:* d',
  ],
  ['there is one', '[FIRING:1] Disk Full (node)', detailed(['a:9100'])],
])('a message is one alert where %s', (_why, title, text) => {
  const { alerts, together } = read(posted(title, text));
  expect(alerts).toHaveLength(1);
  expect(together).toBeUndefined();
});

test('what is accepted is the message as one: its end may list nothing', () => {
  const message = read(posted('[FIRING:2] Disk Full (node)', detailed(['a:9100', 'b:9100'])));
  expect(message.alerts).toHaveLength(2);
  expect(acceptedOf(message)).toEqual([message.together]);
});

test('an edit that ends one of several that are listed is told', () => {
  const before = posted('[FIRING:2] Disk Full (node)', `*Alerts Firing:*\n${detailed(['a:9100', 'b:9100'])}`);
  const after = posted(
    '[FIRING:1, RESOLVED:1] Disk Full (node)',
    `*Alerts Firing:*\n${detailed(['a:9100'])}\n*Alerts Resolved:*\n${detailed(['b:9100'])}`,
  );
  const edit = (message: object) => ({
    type: 'message',
    subtype: 'message_changed',
    channel: 'C1',
    ts: '1772366300.000100',
    message,
    previous_message: before,
  });
  expect(read(edit(after)).alerts.map(({ status }) => status)).toEqual(['firing', 'resolved']);
  expect(read(edit(before)).alerts).toEqual([]);
});
