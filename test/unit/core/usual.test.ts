import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareWithUsual,
  describeUsual,
  sayNumber,
  sayRange,
  type UsualSample,
} from '../../../src/core/usual.ts';

const connections = { name: 'connections', label: 'connections', unit: 'connections', least: 5 };
const NOW = new Date('2026-11-27T14:20:00.000Z');

/** A sample an hour, so many days back, ending just before now. */
function hourly(days: number, value: (at: Date, n: number) => number): readonly UsualSample[] {
  return Array.from({ length: days * 24 }, (_, n) => {
    const at = new Date(NOW.getTime() - (n + 1) * 3_600_000);
    return { at: at.toISOString(), value: value(at, n) };
  });
}

describe('a number beside its samples', () => {
  const week = hourly(7, (at, n) => (at.getUTCHours() >= 8 ? 80 : 10) + (n % 5) * 10);

  test('is judged by the same hour and those beside it', () => {
    const found = compareWithUsual(connections, 412, week, NOW);
    expect(found).toMatchObject({ unusual: 'higher', now: 412, samples: 168 });
    expect(found.hour).toMatchObject({ samples: 21, days: 8, low: 80, high: 120, median: 100 });
    expect(describeUsual(found)).toBe('412 connections, usually 80 to 120 at this hour (8 days)');
  });

  test('that is ordinary at another hour is not at this one', () => {
    expect(compareWithUsual(connections, 20, week, NOW).unusual).toBe('lower');
    const night = new Date('2026-11-27T03:20:00.000Z');
    expect(compareWithUsual(connections, 20, week, night).unusual).toBe('no');
    expect(compareWithUsual(connections, 100, week, night).unusual).toBe('higher');
  });

  test('the hour before midnight is beside the one after it', () => {
    const midnight = hourly(7, () => 50).filter(({ at }) => /T(?:23|00|01):/.test(at));
    expect(compareWithUsual(connections, 50, midnight, new Date('2026-11-27T00:10:00Z')).hour).toMatchObject({
      samples: 21,
    });
  });

  test('hours are those of UTC, however a time is written', () => {
    const written = week.map(({ at, value }) => ({
      at: `${new Date(Date.parse(at) + 2 * 3_600_000).toISOString().slice(0, 23)}+02:00`,
      value,
    }));
    const [one, other] = [week, written].map((samples) => compareWithUsual(connections, 412, samples, NOW));
    expect(other?.hour?.samples).toBe(one?.hour?.samples);
    expect(other?.hour?.days).toBe(one?.hour?.days);
    expect(other?.unusual).toBe('higher');
  });

  test('a wild sample or two do not move what is usual', () => {
    const wild = week.map((sample, n) => (n < 2 ? { ...sample, value: 1e9 } : sample));
    expect(compareWithUsual(connections, 412, wild, NOW).unusual).toBe('higher');
  });

  test('a number that varies is unusual only far out', () => {
    expect(compareWithUsual(connections, 135, week, NOW).unusual).toBe('no');
    expect(compareWithUsual(connections, 145, week, NOW).unusual).toBe('higher');
  });

  test('of one that is always the same a small difference is nothing', () => {
    const same = hourly(7, () => 100);
    expect(compareWithUsual(connections, 105, same, NOW).unusual).toBe('no');
    expect(compareWithUsual(connections, 106, same, NOW).unusual).toBe('higher');
    expect(describeUsual(compareWithUsual(connections, 106, same, NOW))).toBe(
      '106 connections, usually 100 at this hour (8 days)',
    );
  });

  test('what is only counted up is never too low: it began anew', () => {
    const restarts = { ...connections, onlyHigher: true } as const;
    const week80 = hourly(7, () => 80);
    expect(compareWithUsual(restarts, 0, week80, NOW).unusual).toBe('no');
    expect(compareWithUsual(connections, 0, week80, NOW).unusual).toBe('lower');
    expect(compareWithUsual(restarts, 100, week80, NOW).unusual).toBe('higher');
  });
});

describe('no usual yet', () => {
  test.each([
    ['no sample', []],
    ['one sample', hourly(1, () => 5).slice(0, 1)],
    ['part of a day', hourly(1, () => 5).slice(0, 23)],
    ['samples that are no numbers', hourly(7, () => Number.NaN)],
  ])('%s: no verdict, however far off it seems', (_, samples) => {
    const found = compareWithUsual(connections, 1e6, samples, NOW);
    expect(found).toMatchObject({ unusual: null, hour: null, all: null });
    expect(describeUsual(found)).toBeNull();
  });

  test('a day is enough for any hour, and four days for this one', () => {
    const day = compareWithUsual(
      connections,
      400,
      hourly(1, () => 50),
      NOW,
    );
    expect(day).toMatchObject({ unusual: 'higher', hour: null, all: { samples: 24 } });
    expect(describeUsual(day)).toMatch(/^400 connections, usually 50 \(\d days?\)$/);
    expect(
      compareWithUsual(
        connections,
        400,
        hourly(4, () => 50),
        NOW,
      ).hour,
    ).toMatchObject({ samples: 12 });
  });

  test('a number that was not read is not judged', () => {
    const week = hourly(7, () => 50);
    for (const none of [null, Number.NaN, Number.POSITIVE_INFINITY])
      expect(compareWithUsual(connections, none, week, NOW)).toMatchObject({ now: null, unusual: null });
  });
});

test('what is said holds for any numbers', () => {
  const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(0));
  fc.assert(
    fc.property(value, fc.array(value, { minLength: 24, maxLength: 60 }), (now, values) => {
      const samples = hourly(3, (_, n) => values[n % values.length] ?? 0);
      const { all, unusual } = compareWithUsual(connections, now, samples, NOW);
      if (all === null) throw new Error('no usual');
      expect([all.low, all.median, all.high].every(Number.isFinite)).toBe(true);
      expect(all.low).toBeLessThanOrEqual(all.median);
      expect(all.median).toBeLessThanOrEqual(all.high);
      if (now >= all.low && now <= all.high) expect(unusual).toBe('no');
    }),
  );
});

test('numbers are said as people read them', () => {
  expect(sayNumber({ label: 'longest transaction', unit: 's' }, 95.24)).toBe('longest transaction 95.2 s');
  expect(sayNumber({ label: 'load', unit: '' }, 3)).toBe('load 3');
  expect(sayNumber(connections, 12_345)).toBe('12,345 connections');
  expect(sayRange({ low: 1.04, high: 1.01, median: 1, samples: 1, days: 1 })).toBe('1');
});
