import { expect, test } from 'vitest';
import { closestName } from '../../../src/core/closest-name.ts';
import { readOrder } from '../../../src/slack/inbound/events/read-order.ts';

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
])('“%s” orders %s of %s', (text, verb, scope, reason) => {
  expect(readOrder(text)).toEqual({ verb, scope, reason });
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
  expect(readOrder(text)).toBeNull();
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
