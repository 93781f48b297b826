import { expect, test } from 'vitest';
import { type Hours, HoursFields, isWithin, spanOfHours } from '../../../src/core/hours.ts';

const hours = (
  from: string,
  to: string,
  days: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
): Hours => HoursFields.parse({ from, to, days, timezone: 'Europe/Vienna' });

test.each([
  ['08:00', '18:00', '2026-11-25T10:00:30Z', '2026-11-25T17:00:00.000Z'],
  ['22:00', '06:00', '2026-11-25T23:00:00Z', '2026-11-26T05:00:00.000Z'],
  ['22:00', '06:00', '2026-11-26T04:59:59Z', '2026-11-26T05:00:00.000Z'],
  ['00:00', '24:00', '2026-11-25T10:00:00Z', '2026-11-25T23:00:00.000Z'],
  // The clocks go back at 03:00 on that night, and forward on the other.
  ['22:00', '06:00', '2026-10-24T21:00:00Z', '2026-10-25T05:00:00.000Z'],
  ['22:00', '06:00', '2026-03-28T22:00:00Z', '2026-03-29T04:00:00.000Z'],
])('%s to %s at %s ends at %s', (from, to, at, end) => {
  const one = hours(from, to);
  const { from: begins, to: ends } = spanOfHours(one, new Date(at));
  expect(ends.toISOString()).toBe(end);
  expect(isWithin(one, new Date(ends.getTime() - 1))).toBe(true);
  expect(isWithin(one, begins)).toBe(true);
  expect(isWithin(one, new Date(begins.getTime() - 1)) && from !== '00:00').toBe(false);
});
