import { expect, test } from 'vitest';
import type { ReadContext } from '../../../src/sources/ports.ts';
import { slackMessage } from '../../../src/sources/slack-message/index.ts';

const read = (message: object, context: Partial<ReadContext> = {}) => {
  const result = slackMessage.read(
    { type: 'message', channel: 'C1', ts: '1700000000.000100', bot_id: 'B1', ...message },
    { receivedAt: new Date(), ...context },
  );
  if (!result.ok) throw new Error(`${result.field}: ${result.reason}`);
  // Of a group that is listed, what the message says as one.
  return result.together ?? result.alerts[0] ?? null;
};
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });

test('reads the label values of a title without names, without taking the severity for one', () => {
  const alert = read({ attachments: [{ title: '[FIRING:2] InstanceDown prod (node-exporter critical)' }] });
  expect(alert).toMatchObject({
    name: 'InstanceDown',
    sourceSeverity: 'critical',
    annotations: { title_values: 'prod node-exporter' },
  });
});

test('finds the name among the common labels when the group is not by name', () => {
  expect(read({ attachments: [{ title: '[FIRING:1] prod (HighLatency checkout warning)' }] })?.name).toBe(
    'HighLatency',
  );
  expect(read({ attachments: [{ title: '[FIRING:1]  (HighLatency checkout warning)' }] })?.name).toBe(
    'HighLatency',
  );
});

test('reads named labels from fields, lines and lists', () => {
  const alert = read({
    attachments: [
      {
        title: '[FIRING:1] DiskFull for api (env="prod", severity="page")',
        title_link: 'https://am.example/alerts',
        text: '*Description:* the disk is full\n  • *instance:* `db-1:9100`\n  • *job:* `node`',
        fields: [{ title: 'Service', value: 'billing' }],
      },
    ],
  });
  expect(alert).toMatchObject({
    name: 'DiskFull',
    severity: 'critical',
    url: 'https://am.example/alerts',
    labels: { env: 'prod', instance: 'db-1:9100', job: 'node', service: 'billing', severity: 'page' },
    annotations: { description: 'the disk is full' },
  });
});

test('leaves out a label that the alerts of a group do not share', () => {
  const alert = read({
    attachments: [{ title: '[FIRING:2] Down', text: 'instance: a\njob: x\ninstance: b\njob: x' }],
  });
  expect(alert?.labels).toEqual({ job: 'x' });
});

test.each([
  ['text', { text: ':red_circle: Triggered: CPU high on web-1' }],
  ['blocks', { blocks: [section(':red_circle: Triggered: CPU high on web-1')] }],
  [
    'blocks of an attachment',
    { text: '', attachments: [{ blocks: [section('Triggered: CPU high on web-1')] }] },
  ],
  ['the pretext of an attachment', { attachments: [{ pretext: 'Triggered: CPU high on web-1' }] }],
  ['the fallback alone', { attachments: [{ fallback: 'Triggered: CPU high on web-1' }] }],
  [
    'rich text',
    {
      blocks: [
        {
          type: 'rich_text',
          elements: [
            { type: 'rich_text_section', elements: [{ type: 'text', text: 'Triggered: CPU high on web-1' }] },
          ],
        },
      ],
    },
  ],
])('reads content that sits in %s', (_where, message) => {
  expect(read(message)).toMatchObject({ title: 'CPU high on web-1', status: 'firing', name: null });
});

test('has one fingerprint for what began and what recovered', () => {
  expect(read({ text: 'Recovered: CPU high on web-1' })).toMatchObject({
    status: 'resolved',
    fingerprint: read({ text: 'Triggered: CPU high on web-1' })?.fingerprint,
  });
});

test('decodes links and entities as Slack wrote them', () => {
  expect(read({ text: 'Error rate &gt; 5% on <https://x.example/a|checkout> &amp;lt;' })?.title).toBe(
    'Error rate > 5% on checkout &lt;',
  );
});

test('takes an app without a subtype by its bot_id, and no person, reply or own message', () => {
  expect(read({ user: 'U1', app_id: 'A1', bot_id: 'B2', text: 'Alarm: x' })).not.toBeNull();
  expect(read({ bot_id: undefined, user: 'U1', text: 'Alarm: x' })).toBeNull();
  expect(read({ thread_ts: '1699999999.000100', text: 'Alarm: x' })).toBeNull();
  expect(read({ text: 'Alarm: x' }, { own: { botId: 'B1', userId: null } })).toBeNull();
  expect(read({ user: 'U9', text: 'Alarm: x' }, { own: { botId: null, userId: 'U9' } })).toBeNull();
  expect(read({ subtype: 'channel_join', text: 'Alarm: x' })).toBeNull();
  expect(read({ text: '' })).toBeNull();
});

test('reads an edit that ends the alert, and no edit that only unfurls a link', () => {
  const message = (title: string, extra: object = {}) => ({
    bot_id: 'B1',
    ts: '1700000000.000100',
    attachments: [{ title }, ...(Object.keys(extra).length === 0 ? [] : [extra])],
    edited: { ts: '1700000300.000000' },
  });
  const edit = (now: object, before: object) =>
    read({
      subtype: 'message_changed',
      bot_id: undefined,
      ts: '1700000300.000200',
      message: now,
      previous_message: before,
    });
  const begun = message('[FIRING:1] Down (web critical)');
  const ended = edit(message('[RESOLVED] Down (web critical)'), begun);
  expect(ended).toMatchObject({ status: 'resolved', startsAt: '2023-11-14T22:18:20.000Z' });
  expect(ended?.deliveryKey).toBe('slack:C1:1700000000.000100:1700000300.000000');
  expect(
    edit(message('[FIRING:1] Down (web critical)', { image_url: 'https://x.example/i.png' }), begun),
  ).toBeNull();
});

test.each([
  ['*OperationalError*', 'OperationalError'],
  ['*orders-db query time above 5 s*', 'orders-db query time above 5 s'],
  ['🔥 `Prometheus Alert Firing`', 'Prometheus Alert Firing'],
  ['[FIRING:1] *PgDown* ~prod~', 'PgDown'],
  ['FIRING: _disk_ of `db_main_1` is full', 'disk of db_main_1 is full'],
])('a title is drawn plain, without the marks of Slack: %s [L3]', (text, title) => {
  for (const message of [{ text }, { attachments: [{ title: text }] }, { blocks: [section(text)] }])
    expect(read(message)?.title).toContain(title);
  for (const message of [{ text }, { attachments: [{ title: text }] }, { blocks: [section(text)] }])
    expect(read(message)?.title).not.toMatch(/[*`~]|_disk/);
});
