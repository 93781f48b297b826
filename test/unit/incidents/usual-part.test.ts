import { describe, expect, it } from 'vitest';
import { describePart } from '../../../src/core/context.ts';
import type { UsualValue } from '../../../src/core/usual.ts';
import { gatherContext } from '../../../src/incidents/context/gather.ts';
import type { ContextAbout } from '../../../src/incidents/context/part.ts';
import { usualValues } from '../../../src/incidents/context/usual-values.ts';
import type { LastUsual } from '../../../src/incidents/unusual-of.ts';
import type { LastValue } from '../../../src/usual/usual-values.ts';
import { anIncident, aRecord, aToolCall } from '../../support/incident-record.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const before = (minutes: number) => new Date(NOW - minutes * 60_000);
const hour = { low: 80, median: 100, high: 120, samples: 20, days: 7 };

const value = (now: number, minutes: number, more: Partial<UsualValue> = {}): LastValue => ({
  name: 'connections',
  label: 'connections',
  unit: 'connections',
  now,
  hour,
  all: hour,
  samples: 168,
  unusual: 'no',
  at: before(minutes),
  ...more,
});

async function told(
  values: readonly LastValue[],
  known: Partial<LastUsual> = {},
  target: string | null = 'shop-db',
) {
  const part = usualValues({ isKept: () => true, of: async () => values, ...known }, () => NOW);
  const about = {
    record: aRecord({
      incident: anIncident({ target }),
      toolCalls: [
        aToolCall({ startedAt: before(2).toISOString(), output: 'fresh' }),
        aToolCall({ startedAt: before(30).toISOString(), output: 'old' }),
      ],
    }),
  } as unknown as ContextAbout;
  const signal = new AbortController().signal;
  const { now } = await gatherContext([part], { ...about, signal }, (text) => text);
  return now.map((one) => [one.state, describePart(one)]);
}

describe('usual values in the checklist', () => {
  it('say what is unusual for the hour, and how old that is', async () => {
    expect(await told([value(412, 28, { unusual: 'higher' }), value(3, 0)])).toEqual([
      ['found', 'Usual values: 412 connections, usually 80 to 120 at this hour (7 days), read 28 min ago'],
    ]);
  });

  it('say that nothing is, of how many and by the oldest of them', async () => {
    expect(await told([value(90, 28), value(90, 1)])).toEqual([
      ['nothing', 'Usual values: nothing unusual of 2 numbers, read 28 min ago'],
    ]);
    expect((await told([value(90, 0)]))[0]?.[1]).toBe(
      'Usual values: nothing unusual of 1 number, read just now',
    );
  });

  it.each([
    ['no sample of it is kept yet', []],
    ['the newest sample is of 5 h ago', [value(412, 300, { unusual: 'higher' })]],
    [
      'too few samples yet to tell what is usual: 5',
      [value(412, 10, { unusual: null, hour: null, all: null, samples: 5 })],
    ],
  ])('are a gap that says why: %s', async (why, values) => {
    expect(await told(values)).toEqual([['could_not', `Usual values: could not look (${why})`]]);
  });

  it('go by no read of an earlier round, and are no part of what keeps none', async () => {
    const seen: string[] = [];
    await told([value(90, 1)], {
      of: async (_, calls) => {
        seen.push(...calls.map(({ output }) => output));
        return [];
      },
    });
    expect(seen).toEqual(['fresh']);
    expect(await told([], { isKept: () => false })).toEqual([]);
    expect(await told([], {}, null)).toEqual([]);
  });

  it('count what is left of many', async () => {
    const many = Array.from({ length: 5 }, () => value(412, 1, { unusual: 'higher' }));
    expect((await told(many))[0]?.[1]).toMatch(/; and 2 more$/);
  });
});
