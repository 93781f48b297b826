import { expect, it } from 'vitest';
import { afterQuiet } from '../../../src/escalation/ladder.ts';

const every = [0, 1, 2, 3, 4, 5, 6];
const night = (timezone: string, from = 22 * 60, to = 7 * 60, days = every) => [
  { days, from, to, timezone, severities: ['warning'] as const },
];
const after = (hours: ReturnType<typeof night>, iso: string) =>
  afterQuiet(hours, 'warning', new Date(iso))?.toISOString() ?? null;

it.each([
  ['by day', night('UTC'), '2026-11-23T12:00:30.000Z', '2026-11-23T12:00:30.000Z'],
  ['in the evening', night('UTC'), '2026-11-23T23:10:30.000Z', '2026-11-24T07:00:00.000Z'],
  ['in the small hours', night('UTC'), '2026-11-23T03:00:00.000Z', '2026-11-23T07:00:00.000Z'],
  ['at its last moment', night('UTC'), '2026-11-23T06:59:59.999Z', '2026-11-23T07:00:00.000Z'],
  ['at its end', night('UTC'), '2026-11-23T07:00:00.000Z', '2026-11-23T07:00:00.000Z'],
  ['in Vienna', night('Europe/Vienna'), '2026-11-23T21:30:00.000Z', '2026-11-24T06:00:00.000Z'],
  [
    'in Nepal, 45 minutes apart',
    night('Asia/Kathmandu'),
    '2026-11-23T17:00:00.000Z',
    '2026-11-24T01:15:00.000Z',
  ],
  [
    'the night the clock goes forward',
    night('Europe/Vienna'),
    '2026-03-28T22:00:00.000Z',
    '2026-03-29T05:00:00.000Z',
  ],
  ['the night it goes back', night('Europe/Vienna'), '2026-10-24T21:00:00.000Z', '2026-10-25T06:00:00.000Z'],
  ['a weekend', night('UTC', 0, 24 * 60, [0, 6]), '2026-11-21T10:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ['always', night('UTC', 0, 24 * 60), '2026-11-21T10:00:00.000Z', null],
])('%s, a call waits until it is not quiet', (_, hours, from, to) => {
  expect(after(hours, from)).toBe(to);
});
