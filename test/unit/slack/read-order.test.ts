import { expect, test } from 'vitest';
import { closestName } from '../../../src/core/closest-name.ts';
import { isMuteOrder, readOrder } from '../../../src/slack/inbound/events/read-order.ts';

test.each([
  ['stop', 'stop', null, ''],
  ['Stop it now, please!', 'stop', null, ''],
  ['resume.', 'resume', null, ''],
  ['stop: we are on it', 'stop', null, 'we are on it'],
  ['stop this because of the release', 'stop', null, 'of the release'],
  ['stop everything', 'stop', 'everything', ''],
  ['stop shop-dbx for 2h', 'stop', 'shop-dbx for 2h', ''],
  ['resume shop-db', 'resume', 'shop-db', ''],
  ['stop for 2h', 'stop', 'for 2h', ''],
  ['please stop', 'stop', null, ''],
  ['No! Stop, it makes it worse', 'stop', 'makes it worse', ''],
  [':octagonal_sign: can you stop this now', 'stop', null, ''],
  ['🛑 stop', 'stop', null, ''],
  [': stop', 'stop', null, ''],
  ['*stop*', 'stop', null, ''],
  ['“stop”', 'stop', null, ''],
  ['`stop`', 'stop', null, ''],
  ['wait, stop!', 'stop', null, ''],
  ['*stop everything*', 'stop', 'everything', ''],
])('“%s” orders %s of %s', (text, verb, scope, reason) => {
  expect(readOrder(text, { inThread: true })).toEqual({ verb, scope, reason });
  expect(readOrder(text, { inThread: false })).toEqual({ verb, scope, reason });
});

test.each([
  'stop?',
  'should we stop',
  'stopped by whom',
  'resume when?',
  "stop's fine",
  'stop the payroll job first',
  '',
])('“%s” is no order', (text) => {
  expect(readOrder(text, { inThread: false })).toBeNull();
});

test('a sentence stops the incident in whose thread it is said, and resumes none', () => {
  const inThread = { inThread: true };
  expect(readOrder('stop the payroll job first', inThread)).toMatchObject({ scope: 'the payroll job first' });
  expect(readOrder('resume the rollout', inThread)).toBeNull();
  for (const text of ['stop?', 'should we stop', 'stopped by whom', "stop's fine", ''])
    expect(readOrder(text, inThread)).toBeNull();
});

test.each([
  ['can you stop?', ''],
  ['Could you please stop that now, please?', ''],
  ['would you stop the rollout?', 'the rollout'],
])('“%s” in a thread is an order, as people ask politely', (text, words) => {
  expect(readOrder(text, { inThread: true })).toMatchObject({ verb: 'stop', scope: words || null });
  expect(readOrder(text, { inThread: false })).toBeNull();
  expect(readOrder(text.replace('stop', 'resume'), { inThread: true })).toBeNull();
});

test.each([
  ['shop-dbx', 'shop-db'],
  ['shpo-db', 'shop-db'],
  ['SHOP-DB', 'shop-db'],
  ['shopdb', 'shop-db'],
  ['orders', null],
  ['web', null],
])('the name closest to %s is %s', (given, name) => {
  expect(closestName(given, ['shop-db', 'shop-host'])).toBe(name);
});

test.each([
  'mute 2h',
  'mute 2 hours',
  'mute this for 30 minutes please',
  'mute k8s.pod="x" 2h',
  'Mute this for 30m deploying',
  'mute confirm 1d',
  'mute alertname="X" 2h',
  'unmute M3',
  'mutes',
  'silence 2h',
])('“%s” is about mutes', (text) => expect(isMuteOrder(text)).toBe(true));
test.each([
  'mute the noisy ones',
  'muted since when?',
  'silence is golden',
  'unmute the alerts of shop-db',
  'why mute 2h?',
])('“%s” is a sentence', (text) => expect(isMuteOrder(text)).toBe(false));
