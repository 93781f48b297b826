import { expect, test } from 'vitest';
import { parseConfigFile } from '../../../src/config/config-file.ts';
import { maintenanceOf } from '../../../src/config/maintenance.ts';
import { targetsOf } from '../../../src/config/targets.ts';
import { openWindows } from '../../../src/incidents/mutes/maintenance.ts';

const file = (entry: string) => parseConfigFile(`maintenance:\n  - ${entry}\n`, 'sentry.yaml');
const windowsOf = (entry: string) => {
  const read = file(entry);
  targetsOf(read, {});
  return maintenanceOf(read);
};
const once = '{ match: DiskFull, from: "2026-11-28T22:00:00+01:00", to: "2026-11-29T02:00:00+01:00" }';

test('a window is open from its begin to its end, and is one however often it is looked at', () => {
  const windows = windowsOf(once);
  const at = (time: string) => openWindows(windows, new Date(time));
  expect(at('2026-11-28T20:59:59Z')).toEqual([]);
  const [open] = at('2026-11-28T21:00:00Z');
  expect(open).toMatchObject({
    until: '2026-11-29T01:00:00.000Z',
    window: { matcher: 'alertname="DiskFull"' },
  });
  expect(at('2026-11-29T00:59:59Z')[0]?.key).toBe(open?.key);
  expect(at('2026-11-29T01:00:00Z')).toEqual([]);
});

test('a weekly window is another one every week', () => {
  const windows = windowsOf(
    '{ match: A, hours: { days: [sat], from: "22:00", to: "04:00", timezone: Europe/Vienna }, reason: backup }',
  );
  const at = (time: string) => openWindows(windows, new Date(time));
  const [first] = at('2026-11-28T21:30:00Z');
  expect(first?.until).toBe('2026-11-29T03:00:00.000Z');
  expect(at('2026-11-29T02:59:00Z')[0]?.key).toBe(first?.key);
  expect(at('2026-12-05T21:30:00Z')[0]?.key).not.toBe(first?.key);
  expect(at('2026-11-29T21:30:00Z')).toEqual([]);
});

test.each([
  ['{ match: "{}", from: "2026-11-28T22:00:00Z", to: "2026-11-29T02:00:00Z" }', 'every alert'],
  ['{ match: "a=", from: "2026-11-28T22:00:00Z", to: "2026-11-29T02:00:00Z" }', 'expected a value'],
  ['{ match: A }', 'either from and to, or hours'],
  ['{ match: A, from: "2026-11-28T22:00:00Z" }', 'either from and to, or hours'],
  ['{ match: A, from: "2026-11-28T22:00:00Z", to: "2026-11-28T21:00:00Z" }', 'ends before it begins'],
  ['{ match: A, from: "2026-11-28 22:00", to: "2026-11-29T02:00:00Z" }', 'with its offset'],
  ['{ match: A, hours: { from: "22:00", to: "04:00", timezone: Mars } }', 'IANA'],
])('%s is refused with its line', (entry, says) => {
  expect(() => windowsOf(entry)).toThrow(new RegExp(`sentry\\.yaml:2: maintenance\\.0.*${says}`));
});

test('a file without any has none', () => {
  expect(maintenanceOf(parseConfigFile('targets: []', 'sentry.yaml'))).toEqual([]);
});
