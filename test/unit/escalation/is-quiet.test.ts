import { expect, test } from 'vitest';
import { isQuiet } from '../../../src/escalation/is-quiet.ts';

const nights = [
  {
    severities: ['info', 'warning'],
    days: [1, 2, 3, 4, 5],
    from: 22 * 60,
    to: 7 * 60,
    timezone: 'Europe/Vienna',
  },
] as const;

test.each([
  ['warning', '2026-03-02T21:00:00Z', true],
  ['warning', '2026-03-03T05:59:00Z', true],
  ['warning', '2026-03-03T06:00:00Z', false],
  ['critical', '2026-03-02T21:00:00Z', false],
  ['unknown', '2026-03-02T21:00:00Z', false],
  // Sunday's evening is not among them; Friday's night lasts until Saturday's morning.
  ['info', '2026-03-01T22:00:00Z', false],
  ['info', '2026-03-07T05:00:00Z', true],
] as const)('%s at %s: %s', (severity, at, expected) => {
  expect(isQuiet(nights, severity, new Date(at))).toBe(expected);
});
