import { count } from '../../core/count.ts';
import type { Json } from '../../core/tool-call.ts';
import { age, bytes, more, withoutBreaks } from '../format.ts';
import type { Unit } from './promql.ts';
import type { Answered, Labels, Range, Series } from './system.ts';

/** Series that an answer shows. */
export const MAX_SHOWN = 20;
/** Points of a series over time: as wide as a sparkline on a phone. */
const POINTS = 40;

/** About so many seconds, in steps of whole seconds of which the last is `to`. */
export function lastSeconds(seconds: number, to: number): Range {
  const stepSeconds = Math.max(1, Math.ceil(seconds / (POINTS - 1)));
  return { from: to - Math.floor(seconds / stepSeconds) * stepSeconds, to, stepSeconds };
}

/** `12.4 KiB/s`, `3.2s`, `43%`; `NaN` and infinite values in Prometheus' own words. */
export function formatValue(value: number, unit: Unit): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (unit === 'B') return bytes(Math.round(value));
  if (unit === 'B/s') return `${bytes(Math.round(value))}/s`;
  if (unit === 'ratio') return `${plain(value * 100)}%`;
  if (unit === 's' && value >= 60) return age(value);
  return `${plain(value)}${unit.startsWith('/') ? unit : unit && ` ${unit}`}`;
}

function plain(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(2);
  return value.toLocaleString('en-US', {
    maximumSignificantDigits: Math.abs(value) < 1_000 ? 4 : 15,
    maximumFractionDigits: 0,
    roundingPriority: 'morePrecision',
  });
}

/** `node_load1{instance="db-1:9100"}`, as PromQL has it. */
export function formatLabels({ __name__: name = '', ...labels }: Labels): string {
  const inner = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return withoutBreaks(inner.length === 0 && name !== '' ? name : `${name}{${inner.join(', ')}}`);
}

const BARS = '▁▂▃▄▅▆▇█';

/** A bar a step, `·` where there is no number. */
export function sparkline(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const top = BARS.length - 1;
  return values
    .map((value) => {
      if (value === null) return '·';
      return BARS[high === low ? 0 : Math.round(((value - low) / (high - low)) * top)];
    })
    .join('');
}

/** One value at each step of the range; null where the series has no sample, or none that is a number. */
export function onGrid({ points }: Series, { from, to, stepSeconds }: Range): readonly (number | null)[] {
  const found = new Map(points.map(([at, value]) => [Math.round((at - from) / stepSeconds), value]));
  return Array.from({ length: Math.floor((to - from) / stepSeconds) + 1 }, (_, step) => {
    const value = found.get(step);
    return value !== undefined && Number.isFinite(value) ? value : null;
  });
}

/** A number as JSON has it: there is none for NaN and infinite values, which `text` says. */
export const jsonValue = (value: number): Json => (Number.isFinite(value) ? value : null);

/** The largest first, what is no number before them: it is the most unusual. */
export function byLastValue(one: Series, other: Series): number {
  const weight = (series: Series): number => {
    const value = series.points.at(-1)?.[1] ?? Number.NaN;
    return Number.isNaN(value) ? Number.POSITIVE_INFINITY : Math.abs(value);
  };
  const [a, b] = [weight(one), weight(other)];
  return a === b ? 0 : b - a;
}

/** A line of a series over time: now, least, most, and its course. */
export function seriesLine(series: Series, range: Range, unit: Unit): string {
  const values = onGrid(series, range);
  const known = values.filter((value) => value !== null);
  const name = formatLabels(series.labels);
  if (known.length === 0) return `${name}: no number in that time (NaN or infinite)`;
  const gaps = values.length - known.length;
  const now = values.at(-1) ?? null;
  return [
    `${name}: ${now === null ? `no sample now; the last ${formatValue(known.at(-1) ?? Number.NaN, unit)}` : `now ${formatValue(now, unit)}`}`,
    `least ${formatValue(Math.min(...known), unit)}`,
    `most ${formatValue(Math.max(...known), unit)}`,
    `${sparkline(values)}${gaps > 0 ? ` (no sample at ${gaps} of ${count(values.length, 'step')})` : ''}`,
  ].join(', ');
}

/** A chart as a surface draws it: `{ unit, from, to, step_seconds, series: [{ name, values }] }`; a value a step, null for none. */
export function chartOf(shown: readonly Series[], range: Range, unit: Unit): Json {
  return {
    unit,
    from: new Date(range.from * 1_000).toISOString(),
    to: new Date(range.to * 1_000).toISOString(),
    step_seconds: range.stepSeconds,
    series: shown.map((series) => ({
      name: formatLabels(series.labels),
      values: onGrid(series, range),
    })),
  };
}

/** What is left out, and what the server says against its own answer. */
export function notes({ series, warnings }: Answered, shown: number): readonly string[] {
  return [
    ...more(series.length, shown),
    ...warnings.slice(0, 3).map((warning) => `The server warns: ${withoutBreaks(warning).slice(0, 200)}`),
  ];
}
