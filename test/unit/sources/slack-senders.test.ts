import { expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { ofOneFingerprint, ofOneName } from '../../support/linked-messages.ts';

const receivedAt = new Date('2026-03-01T12:00:00Z');

async function read(source: string, payload: unknown, everyMessage = false): Promise<Alert | null> {
  const answer = await alertSource(source).read(payload, { receivedAt, everyMessage });
  if (!answer.ok) throw new Error(`${answer.field}: ${answer.reason}`);
  return answer.alerts[0] ?? null;
}

const message = (content: object, ts = '1772366280.000100') => ({
  type: 'message',
  channel: 'C1',
  bot_id: 'B1',
  ts,
  text: '',
  ...content,
});
const posted = (content: object, everyMessage = false) => read('slack', message(content), everyMessage);
test.each(Object.entries(ofOneFingerprint))(
  'the message of %s has the fingerprint of its webhook, from its beginning to its end',
  async (source, { webhook, firing, resolved, alert }) => {
    const begun = await posted(firing);
    expect(begun).toMatchObject({ ...alert, source: 'slack', status: 'firing' });
    expect(begun?.fingerprint).toBe((await read(source, webhook.firing))?.fingerprint);
    expect(await posted(resolved)).toMatchObject({ status: 'resolved', fingerprint: begun?.fingerprint });
    expect((await read(source, webhook.otherThing))?.fingerprint).not.toBe(begun?.fingerprint);
  },
);

test.each(Object.entries(ofOneFingerprint))(
  'what another app says with a link of %s is of its own alert, and ends none of theirs',
  async (_source, { firing, resolved }) => {
    const theirs = await posted(firing);
    const liar = { bot_profile: { app_id: 'A0OTHER', name: 'Release notes' }, username: 'PagerDuty' };
    for (const content of [firing, resolved]) {
      const quoted = await posted({ ...content, ...liar });
      expect(quoted?.fingerprint).not.toBe(theirs?.fingerprint);
      expect(quoted?.idOf).toBeUndefined();
    }
  },
);

test.each([
  [{ app_id: 'A1FKYAUUX', bot_profile: { name: 'On-call' } }, true],
  [{ bot_profile: { name: 'PagerDuty (EU)' } }, true],
  [{ subtype: 'bot_message', username: 'PagerDuty' }, true],
  [{ app_id: 'A0OTHER', username: 'PagerDuty' }, false],
  [{ bot_profile: { name: 'Not PagerDuty' }, username: 'PagerDuty' }, false],
  [{ bot_profile: 'PagerDuty' }, false],
  [{}, false],
])('an app is known by its id or its name in Slack: %j', async (sender, isOwn) => {
  const link = '<https://example.pagerduty.com/incidents/PGR0VU2|[#2] Checkout is slow>';
  expect((await posted({ text: `Triggered: ${link}`, ...sender }))?.idOf).toBe(
    isOwn ? 'pagerduty' : undefined,
  );
});

test.each(Object.entries(ofOneName))(
  'the message of %s tells name and labels as its webhook does',
  async (source, { webhook, firing, resolved }) => {
    const alert = (await read(source, webhook.firing)) as Alert;
    const begun = await posted(firing);
    const ended = await posted(resolved);
    expect(begun).toMatchObject({
      status: 'firing',
      name: alert.name,
      title: alert.title,
      severity: alert.severity,
    });
    expect(begun?.labels).toMatchObject({ host: 'shop-db', env: 'prod' });
    expect(begun?.target).toBe('shop-db');
    expect(ended).toMatchObject({ status: 'resolved', fingerprint: begun?.fingerprint });
  },
);

test.each([
  ['Deployed checkout 1.42 to production'],
  ['[shop/api] Pull request opened: #12 Fix failing tests'],
  ['Reminder: incident review at 15:00'],
  ['Nightly report: 0 failed jobs'],
  ['Backup of shop-db completed'],
  ['Lunch is here'],
])('a message that tells of no trouble opens nothing, unless its channel says so: %s', async (text) => {
  expect(await posted({ text })).toBeNull();
  expect(await posted({ text, attachments: [{ color: 'good', text: 'by Ann' }] })).toBeNull();
  expect(await posted({ text }, true)).toMatchObject({ status: 'firing', title: text });
});

test.each([
  [{ text: 'Backup of shop-db failed' }],
  [{ text: 'checkout latency above 2 s' }],
  [{ text: 'shop-db', attachments: [{ color: 'danger', text: 'replica gone' }] }],
  [{ text: 'shop-db', attachments: [{ fields: [{ title: 'Severity', value: 'critical' }] }] }],
  [{ text: 'shop-db\n*Status:* Firing' }],
  [{ text: 'DiskFull' }],
  [{ text: 'The replica is not responding' }],
])('a message that tells of trouble is an alert, whoever sends it: %j', async (content) => {
  expect(await posted(content)).toMatchObject({ status: 'firing' });
});

test('words like an end within a message end nothing', async () => {
  const link = '<https://example.pagerduty.com/incidents/PGR0VU2|[#2] Ticket was closed by nobody>';
  expect(await posted({ text: `Triggered: ${link}` })).toMatchObject({ status: 'firing' });
  expect(await posted({ text: `${link}\nThe last incident was resolved by Ann.` })).toMatchObject({
    status: 'firing',
  });
  expect(await posted({ text: `Not resolved: ${link}` })).toMatchObject({ status: 'firing' });
});

test('a text made of what the patterns look for is read in no time that grows out of bounds', async () => {
  const part = 'https://one.newrelic.com/issues/organizations/a-opsg.in/a/i/CloudWatch Alarm | x';
  const text = `<${part.repeat(500)}`;
  expect(await posted({ text }, true)).not.toBeNull();
});
