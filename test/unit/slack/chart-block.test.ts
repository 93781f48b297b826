import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ChartPoint,
  type ChartShape,
  chartBlock,
  type DataVisualizationBlock,
} from '../../../src/slack/views/blocks/chart-block.ts';

const drawn = (shape: Partial<ChartShape>): DataVisualizationBlock | null =>
  chartBlock({
    type: 'bar',
    title: 'sessions',
    series: ['sessions'],
    points: [],
    peak: 'highest',
    ...shape,
  }) as DataVisualizationBlock | null;
const points = (...values: readonly (number | null)[]): readonly ChartPoint[] =>
  values.map((value, at) => ({ label: `+${at} s`, values: [value] }));
const valuesOf = (block: DataVisualizationBlock | null) =>
  block?.chart.series.map(({ data }) => data.map(({ value }) => value));

const text = fc.oneof(
  fc.constantFrom('', ' ', '<!channel>', '*x*', '\u202Ex', '😀'.repeat(40), 'same', 'x'.repeat(300)),
  fc.string({ unit: 'binary', maxLength: 80 }),
);
const value = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(null, Number.NaN, Number.POSITIVE_INFINITY) },
  { weight: 20, arbitrary: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })) },
);
const shapes = fc.record({
  type: fc.constantFrom('bar' as const, 'line' as const, 'area' as const),
  title: text,
  series: fc.array(text, { maxLength: 8 }),
  points: fc.array(fc.record({ label: text, values: fc.array(value, { minLength: 5, maxLength: 9 }) }), {
    maxLength: 90,
  }),
  xLabel: text,
  yLabel: text,
  peak: fc.constantFrom('highest' as const, 'lowest' as const),
});

describe('a chart', () => {
  it('is within Slack’s limits, whatever it is made of: a finite, measured value of each series at each place', () => {
    let charts = 0;
    fc.assert(
      fc.property(shapes, (shape) => {
        const block = drawn(shape);
        if (block === null) return;
        charts += 1;
        const { title, chart } = block;
        const { categories, x_label, y_label } = chart.axis_config;
        for (const label of [title, x_label ?? 'x', y_label ?? 'y']) {
          expect(label.trim()).not.toBe('');
          expect(label.length).toBeLessThanOrEqual(50);
        }
        expect(categories.length).toBeGreaterThanOrEqual(3);
        expect(categories.length).toBeLessThanOrEqual(20);
        expect(new Set(categories).size).toBe(categories.length);
        expect(chart.series.length).toBeGreaterThanOrEqual(1);
        expect(chart.series.length).toBeLessThanOrEqual(6);
        expect(new Set(chart.series.map(({ name }) => name)).size).toBe(chart.series.length);
        for (const label of [...categories, ...chart.series.map(({ name }) => name)]) {
          expect(label.length).toBeLessThanOrEqual(20);
          expect(label.trim()).not.toBe('');
        }
        for (const [nth, { data }] of chart.series.entries()) {
          expect(data.map(({ label }) => label)).toEqual(categories);
          const measured = shape.points.map(({ values }) => values[nth]);
          for (const each of data) {
            expect(Number.isFinite(each.value)).toBe(true);
            expect(measured).toContain(each.value);
          }
        }
      }),
      { numRuns: 400 },
    );
    expect(charts).toBeGreaterThan(50);
  });

  it('keeps the first, the last and the peak of what is too many', () => {
    const many = Array.from({ length: 200 }, (_, at) => (at === 83 ? 99 : at % 5));
    const [kept] = valuesOf(drawn({ points: points(7, ...many, 3) })) ?? [];
    expect(kept).toHaveLength(20);
    expect(kept?.[0]).toBe(7);
    expect(kept?.at(-1)).toBe(3);
    expect(kept).toContain(99);
    const lows = many.map((each) => -each);
    expect(valuesOf(drawn({ points: points(7, ...lows, 3), peak: 'lowest' }))?.[0]).toContain(-99);
  });

  it('leaves out what was not measured, and is none where too little is left', () => {
    expect(valuesOf(drawn({ points: points(4, null, 2, Number.NaN, 0) }))).toEqual([[4, 2, 0]]);
    expect(drawn({ points: points(4, null, 0) })).toBeNull();
    expect(drawn({ series: [], points: points(4, 3, 0) })).toBeNull();
    const two = [
      { label: 'a', values: [1, 2] },
      { label: 'b', values: [1, null] },
      { label: 'c', values: [3] },
    ];
    expect(drawn({ series: ['x', 'y'], points: two })).toBeNull();
  });
});
