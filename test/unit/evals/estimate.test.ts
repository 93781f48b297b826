import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareRuns,
  comparisonTable,
  estimateOf,
  estimateTable,
  type Measured,
} from '../../../evals/score/estimate.ts';
import { bootstrapMean, chanceOf, wilson } from '../../../evals/score/intervals.ts';

const run = (id: string | number, score: number, costUsd = 0.25): Measured => ({
  id: String(id),
  passed: score === 1,
  score,
  costUsd,
  wallMs: 1_000,
});
const of = (scores: readonly number[], cost?: number) => scores.map((score, at) => run(at, score, cost));

describe('an interval', () => {
  it('of a share is Wilson’s', () => {
    // Newcombe 1998, table I: 81 of 263, and 0 of 20.
    expect(wilson(81 / 263, 263).low).toBeCloseTo(0.2553, 4);
    expect(wilson(81 / 263, 263).high).toBeCloseTo(0.3662, 4);
    expect(wilson(0, 20).low).toBe(0);
    expect(wilson(0, 20).high).toBeCloseTo(0.1611, 4);
    expect(wilson(0, 0)).toEqual({ value: 0, low: 0, high: 1 });
  });

  it('of a mean has it inside, within the values, and is the same each time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 20 }),
        (values) => {
          const interval = bootstrapMean(values);
          expect(interval).toEqual(bootstrapMean(values));
          expect(interval.low).toBeLessThanOrEqual(interval.value + 1e-9);
          expect(interval.high).toBeGreaterThanOrEqual(interval.value - 1e-9);
          expect(interval.low).toBeGreaterThanOrEqual(Math.min(...values) - 1e-9);
          expect(interval.high).toBeLessThanOrEqual(Math.max(...values) + 1e-9);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('covers the true mean about as often as it says', () => {
    let [state, covered] = [7, 0];
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 100; round++) {
      const { low, high } = bootstrapMean(Array.from({ length: 30 }, random));
      if (low <= 0.5 && 0.5 <= high) covered++;
    }
    expect(covered).toBeGreaterThanOrEqual(88);
    expect(covered).toBeLessThanOrEqual(99);
  });
});

describe('an estimate', () => {
  it('counts a scenario once, however often it ran', () => {
    const once = estimateOf(of([1, 0, 1, 1]));
    const thrice = estimateOf([...of([1, 0, 1, 1]), ...of([1, 0, 1, 1]), ...of([1, 0, 1, 1])]);
    expect(thrice).toEqual({ ...once, runs: 12 });
    expect(once.passed.value).toBe(0.75);
    expect(estimateOf([run('a', 1), run('a', 0), run('b', 1)]).passed.value).toBe(0.75);
  });

  it('says so where there are few, and holds for none', () => {
    expect(estimateTable(estimateOf(of([1])))).toContain('too narrow');
    expect(estimateTable(estimateOf(of(Array<number>(10).fill(1))))).not.toContain('too narrow');
    expect(estimateOf([])).toMatchObject({ scenarios: 0, passed: { low: 0, high: 1 } });
  });
});

describe('a comparison', () => {
  it('finds a difference in every pair, from six on', () => {
    const better = compareRuns(of(Array<number>(6).fill(0.2)), of(Array<number>(6).fill(0.8)));
    expect(better.score).toMatchObject({ value: expect.closeTo(0.6), differs: true });
    const few = compareRuns(of(Array<number>(5).fill(0.2)), of(Array<number>(5).fill(0.8)));
    expect(few.score).toMatchObject({ value: expect.closeTo(0.6), differs: false });
    expect(comparisonTable(few, 'model=x')).toContain('these runs cannot tell a difference');
  });

  it('finds none in what goes either way, or in the same runs', () => {
    const [one, other] = [of([1, 0, 1, 0, 1, 0, 1, 0]), of([0, 1, 0, 1, 1, 0, 1, 0])];
    expect(compareRuns(one, other).passed.differs).toBe(false);
    expect(compareRuns(one, one).score).toEqual({ value: 0, low: 0, high: 0, differs: false });
    expect(compareRuns(one, []).scenarios).toBe(0);
    expect(compareRuns(one, []).score.differs).toBe(false);
  });

  it('pairs by scenario: what is hard for both hides no difference', () => {
    const hard = Array.from({ length: 12 }, (_, at) => at / 12);
    const easier = hard.map((score) => score + 0.05);
    expect(compareRuns(of(hard, 0.1), of(easier, 0.05))).toMatchObject({
      score: { differs: true },
      costUsd: { value: expect.closeTo(-0.05), differs: true },
      wallMs: { differs: false },
    });
    const table = comparisonTable(compareRuns(of(hard, 0.1), of(easier, 0.05)), 'prompt=mine');
    expect(table).toMatch(/score +\+0\.05 .*more/);
    expect(table).toMatch(/cost +−\$0\.05 .*less/);
  });

  it('calls chance a difference in about one of twenty, not more', () => {
    let [state, found] = [11, 0];
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 100; round++) {
      const draw = () => of(Array.from({ length: 12 }, random));
      if (compareRuns(draw(), draw()).score.differs) found++;
    }
    expect(found).toBeLessThanOrEqual(10);
    expect(chanceOf([])).toBe(1);
  });
});
