import { expect, test } from 'vitest';
import { formatUsual } from '../../../src/tools/usual/format-usual.ts';

const spread = { low: 80, median: 100, high: 120, samples: 21, days: 8 };
const connections = {
  name: 'connections',
  label: 'connections',
  unit: 'connections',
  now: 412,
  hour: spread,
  all: { ...spread, low: 10, samples: 168 },
  samples: 168,
  unusual: 'higher',
} as const;
const load = {
  name: 'load',
  label: 'load',
  unit: '',
  now: 0.5,
  hour: null,
  all: null,
  samples: 1,
  unusual: null,
} as const;
const found = { target: 'orders-db', at: '2026-11-27T14:20:00.000Z', unread: [], leftOut: 0 };

test('what is unusual comes first, with how much is known of it', () => {
  expect(
    formatUsual({ ...found, values: [load, connections], unread: ['dead rows: no answer'], leftOut: 2 }),
  ).toBe(
    `orders-db at 2026-11-27T14:20:00Z: 1 of 1 number UNUSUAL, a lead and no cause.
UNUSUAL (higher): 412 connections; usually at this hour 80 to 120, median 100 (21 samples of 8 days); at any hour 10 to 120, median 100 (168 samples of 8 days)
load 0.5; no usual yet (1 sample)
Could not be read: dead rows: no answer
2 samples left out: an incident of orders-db was open when they were taken.`,
  );
});

test('that nothing is unusual is not said to be healthy', () => {
  const usual = { ...connections, now: 95, unusual: 'no' } as const;
  expect(formatUsual({ ...found, values: [usual] })).toMatch(
    /none of 1 number is unusual, which does not show that it is healthy\.\nusual: 95 connections;/,
  );
});

test('without samples there is no verdict', () => {
  expect(
    formatUsual({
      ...found,
      values: [load, { ...load, name: 'x', label: 'swap used', unit: '%', now: null }],
    }),
  ).toBe(`orders-db at 2026-11-27T14:20:00Z: no usual yet, so nothing can be said.
load 0.5; no usual yet (1 sample)
swap used: not read; no usual yet (1 sample)`);
});

test('what could not be read is no lack of samples, and is told beside what was', () => {
  const unread = { ...connections, now: null, unusual: null } as const;
  expect(formatUsual({ ...found, values: [unread] })).toMatch(
    /: COULD NOT BE READ, so nothing was compared\.\n/,
  );
  const usual = { ...connections, now: 95, unusual: 'no' } as const;
  expect(formatUsual({ ...found, values: [unread, usual] })).toMatch(
    /healthy\. 1 number could not be read\.\n/,
  );
});
