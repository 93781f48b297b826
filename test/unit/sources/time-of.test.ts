import { expect, test } from 'vitest';
import { timeOf } from '../../../src/sources/time-of.ts';

const NOON = '2026-03-01T12:00:00.000Z';

test.each([
  ['ISO 8601', '2026-03-01T12:00:00Z'],
  ['another zone', '2026-03-01T13:00:00+01:00'],
  ['a zone without a colon', '2026-03-01T13:00:00.000+0100'],
  ['a zone as Wazuh writes it', '2026-03-01T13:00:00+01.00'],
  ['a day as Zabbix writes it', '2026.03.01 12:00:00'],
  ['a time as Go prints it', '2026-03-01 13:00:00.000000001 +0100 CET m=+8560.285724134'],
  ['no zone', '2026-03-01 12:00:00'],
  ['no zone and a T', '2026-03-01T12:00:00'],
  ['a date of RFC 1123', 'Sun, 01 Mar 2026 12:00:00 GMT'],
  ['seconds', 1_772_366_400],
  ['seconds as text', '1772366400'],
  ['milliseconds', 1_772_366_400_000],
  ['milliseconds as text', ' 1772366400000 '],
  ['microseconds', 1_772_366_400_000_000],
  ['nanoseconds as text', '1772366400000000000'],
])('%s is read in the zone of the sender, not of this machine', (_what, given) => {
  expect(timeOf(given)).toBe(NOON);
});

test.each([
  null,
  undefined,
  '',
  ' ',
  0,
  '0',
  -5,
  Number.NaN,
  1e300,
  '1e300',
  'soon',
  {},
  [],
  '0001-01-01T00:00:00Z',
  '+058134-01-19T14:40:00.000Z',
  '10000-01-01T00:00:00Z',
  1e21,
])('%j tells no time', (given) => {
  expect(timeOf(given)).toBeNull();
});
