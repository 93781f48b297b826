import { expect, test } from 'vitest';
import { readExpression } from '../../../../src/targets/prometheus/promql.ts';
import { formatValue, lastSeconds, onGrid, sparkline } from '../../../../src/targets/prometheus/series.ts';

test.each([
  ['shop_wait_seconds > 5', { measured: 'shop_wait_seconds', sign: '>', bound: 5 }],
  ['0.5 < (avg by (x) (a))', { measured: '(avg by (x) (a))', sign: '>', bound: 0.5 }],
  ['((up) == 0)', { measured: '(up)', sign: '==', bound: 0 }],
  ['temp >= -5', { measured: 'temp', sign: '>=', bound: -5 }],
  // The value that comes back is 0 or 1, and there always is one.
  ['a > bool 1', null],
  ['a > b', null],
  ['a > 1 and b > 2', null],
  ['absent(a)', null],
  ['sum(', null],
])('what %s compares', (text, comparison) => {
  expect(readExpression(text).comparison).toEqual(comparison);
});

test.each([
  ['rate(a{x="1"}[5m]) / b > 1', ['a{x="1"}', 'b']],
  ['a > 1 and on(job) b > 2', ['a', 'b']],
  // What only takes something away may be absent, and so may what has to be.
  ['a unless on(job) maintenance', ['a']],
  ['absent(a) and absent_over_time(b[5m])', []],
  ['{__name__="up"} == 0', ['{__name__="up"}']],
  ['vector(1)', []],
])('what has to be there for %s to return anything', (text, needs) => {
  expect(readExpression(text).needs).toEqual(needs);
});

test.each([
  ['a > 5', ['(a)'], ['(a)']],
  ['5 < bool a', ['(a)'], ['(a)']],
  ['(a > 1 and on(x) b == 2)', ['(a) and on(x) (b)'], ['(a)', '(b)']],
  [
    'a > on(x) group_left(y) b + c',
    ['((a) - on(x) group_left(y) (b + c))'],
    ['((a) - on(x) group_left(y) (b + c))'],
  ],
  ['a > 1 or (b < 2)', ['(a)', '(b)'], ['(a)', '(b)']],
  ['count by (x) (up == 0) > 2', ['(count by (x) ((up)))'], ['(count by (x) ((up)))', '(up)']],
  ['a > 1 unless b > 2', ['(a)'], ['(a)']],
  ['absent(a{x="1"} > 1)', ['(a{x="1"})'], []],
  ['absent_over_time(a[5m])', ['last_over_time(a[5m])'], []],
  ['rate(a[5m]) / b >= 0.1', ['(rate(a[5m]) / b)'], ['(rate(a[5m]) / b)']],
  ['a * b', ['a * b'], []],
])('what %s measures and compares', (text, measured, compared) => {
  expect(readExpression(text)).toMatchObject({ measured, compared });
});

test.each([
  ['shop_wait_seconds', 's'],
  ['max(shop_wait_seconds) > 5', 's'],
  ['rate(shop_sent_bytes_total[5m])', 'B/s'],
  ['rate(shop_requests_total[5m])', '/s'],
  ['histogram_quantile(0.9, sum by (le) (rate(shop_wait_seconds_bucket[5m])))', 's'],
  ['avg_over_time(shop_use_ratio[1h:5m]) offset 1d', 'ratio'],
  // What is counted, divided or multiplied is of another unit.
  ['count(shop_wait_seconds)', ''],
  ['shop_free_bytes / shop_size_bytes', ''],
  ['shop_wait_seconds * 1000', ''],
  ['shop_seconds_left', ''],
])('the unit of %s by its names', (text, unit) => {
  expect(readExpression(text).unit).toBe(unit);
});

test.each([
  [1_536, 'B', '1.5 KiB'],
  [1_536, 'B/s', '1.5 KiB/s'],
  [0.4321, 'ratio', '43.21%'],
  [90, 's', '1m 30s'],
  [0.25, 's', '0.25 s'],
  [3, '/s', '3/s'],
  [1_234_567, '', '1,234,567'],
  [0.000012, '', '1.20e-5'],
  [Number.NaN, 's', 'NaN'],
  [Number.NEGATIVE_INFINITY, '', '-Inf'],
])('%s of %s is shown as %s', (value, unit, shown) => {
  expect(formatValue(value, unit)).toBe(shown);
});

test('a course ends at its last moment, with a gap wherever there is no number', () => {
  const range = lastSeconds(3_600, 1_000_000);
  expect((range.to - range.from) % range.stepSeconds).toBe(0);
  const { from, stepSeconds: step } = range;
  const points = [
    [from, 1],
    [from + 2 * step, Number.NaN],
    [range.to, 3],
  ] as const;
  const values = onGrid({ labels: {}, points }, range);
  expect([values[0], values[1], values[2], values.at(-1)]).toEqual([1, null, null, 3]);
  expect(sparkline([1, null, 3, 2])).toBe('▁·█▅');
  expect(sparkline([5, 5])).toBe('▁▁');
  expect(sparkline([null])).toBe('·');
});
