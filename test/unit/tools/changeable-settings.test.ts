import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type ChangeableName,
  changeableSettings,
  parseSetting,
} from '../../../src/targets/postgres/active/changeable-settings.ts';

const names = Object.keys(changeableSettings) as ChangeableName[];

test.each([
  ['idle_in_transaction_session_timeout', '60s', { setting: '60000', literal: "'60000ms'" }],
  ['idle_in_transaction_session_timeout', '1 min', { setting: '60000', literal: "'60000ms'" }],
  ['idle_in_transaction_session_timeout', '0', { setting: '0', literal: "'0ms'" }],
  ['work_mem', '64MB', { setting: '65536', literal: "'65536kB'" }],
  ['autovacuum_vacuum_scale_factor', '0.05', { setting: '0.05', literal: "'0.05'" }],
  ['log_min_duration_statement', '-1', { setting: '-1', literal: "'-1'" }],
  ['autovacuum', 'ON', { setting: 'on', literal: 'on' }],
  ['autovacuum_naptime', '1min', { setting: '60', literal: "'60s'" }],
] as const)('%s = %s is understood', (name, text, expected) => {
  expect(parseSetting(name, text)).toEqual(expected);
});

test.each([
  ['statement_timeout', '500ms', 'must be from 1000'],
  ['work_mem', '1GB', 'must be from 64'],
  ['work_mem', '64 bananas', 'expected a number'],
  ['work_mem', '64s', 'unit "s"'],
  ['autovacuum_naptime', '1500ms', 'whole number'],
  ['log_lock_waits', '2', 'on or off'],
] as const)('%s = %s is refused with the reason', (name, text, reason) => {
  expect(parseSetting(name, text)).toEqual({ problem: expect.stringContaining(reason) });
});

test('nothing but numbers, units, on and off ever gets into the statement', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.oneof(fc.string(), fc.stringMatching(/^-?\d{1,6}(\.\d{1,3})?(ms|s|min|kB|MB|GB)?['"; ]*$/)),
      (name, text) => {
        const parsed = parseSetting(name, text);
        if ('literal' in parsed) expect(parsed.literal).toMatch(/^('-?\d+(\.\d+)?(ms|s|kB|MB)?'|on|off)$/);
      },
    ),
  );
});

test('what weakens durability or runs commands is not on the list', () => {
  for (const name of names)
    expect(name).not.toMatch(/fsync|synchronous|full_page|command|preload|hba|listen|ssl|password/);
});
