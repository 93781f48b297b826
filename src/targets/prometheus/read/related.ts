import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { more } from '../../format.ts';
import { unitOfMetric } from '../promql.ts';
import { chartOf, formatLabels, formatValue, lastSeconds, notes, onGrid, sparkline } from '../series.ts';
import type { Labels, Range, Series } from '../system.ts';
import { labelValues, minutes, prometheusTool } from '../tool.ts';

const SHOWN = 10;
/** The last part of the time is compared with what was before it. */
const RECENT = 5;
/** Deviations from the usual below which nothing is called moved. */
const LEAST = 4;

/** What says nothing by its value, and buckets, of which there are too many. */
const NOT_VALUES = '.*_(bucket|info|created|timestamp_seconds|time_seconds)';
const COUNTER = /_(?:total|sum|count)$/;

interface Move {
  readonly series: Series;
  readonly unit: string;
  readonly usual: number;
  readonly now: number;
  /** From the usual, in the deviations that are usual for it; at most a million. */
  readonly deviations: number;
}

/**
 * Which series with given labels moved most, against what was usual for each. Data: `{ total, moved, series: [{ labels, unit, usual,
 * now, deviations }], chart }`, the most unusual first; counters as rates.
 */
export const relatedSeries = prometheusTool.read({
  name: 'prometheus_related',
  description:
    'Which series with the given labels (those of the alert) moved most over the last minutes, against what is usual for each.',
  kind: 'read',
  input: z.strictObject({
    labels: labelValues.refine((labels) => Object.values(labels).some(Boolean), 'name at least one label'),
    minutes: minutes.default(60),
  }),
  timeoutMs: 20_000,
  async run(context, { labels, minutes: over }) {
    const { system } = context;
    const range = lastSeconds(over * 60, await system.now(context));
    const selector = formatLabels(labels).replace(/\}$/, `, __name__!~${JSON.stringify(NOT_VALUES)}}`);
    const answered = await system.queryRange(selector, range, context);
    const moves = answered.series
      .map((series) => moveOf(series, range))
      .filter((move) => move !== null)
      .filter(({ deviations }) => deviations >= LEAST)
      .toSorted((one, other) => other.deviations - one.deviations || Math.abs(other.now) - Math.abs(one.now));
    const shown = moves.slice(0, SHOWN);
    const total = answered.series.length;
    return {
      text: [
        total === 0
          ? `No series has the labels ${formatLabels(labels)}: that is not zero.`
          : `${moves.length} of ${total} series with ${formatLabels(labels)} moved in the last ${count(over, 'minute')}${moves.length > 0 ? ', the most unusual first:' : '.'}`,
        ...shown.map(
          ({ series, unit, usual, now }) =>
            `${nameOf(series.labels, labels)}: usually ${formatValue(usual, unit)}, now ${formatValue(now, unit)} ${sparkline(onGrid(series, range))}`,
        ),
        ...more(moves.length, shown.length),
        ...notes({ ...answered, series: [] }, 0),
      ].join('\n'),
      data: {
        total,
        moved: moves.length,
        series: shown.map(({ series, ...move }) => ({ labels: series.labels, ...move })),
        chart: chartOf(
          shown.map(({ series }) => series),
          range,
          '',
        ),
      },
    };
  },
});

/** Without what was asked for. */
const nameOf = (own: Labels, asked: Labels): string =>
  formatLabels(Object.fromEntries(Object.entries(own).filter(([label]) => !(label in asked))));

/** Null: it has no number now, or nothing to compare it with. */
function moveOf(given: Series, range: Range): Move | null {
  const name = given.labels['__name__'] ?? '';
  const isCounter = COUNTER.test(name);
  const series = isCounter ? { ...given, points: ratesOf(given.points) } : given;
  const values = onGrid(series, range);
  const known = values.filter((value) => value !== null);
  const before = known.slice(0, -RECENT);
  const recent = values.slice(-RECENT).filter((value) => value !== null);
  if (before.length < RECENT || recent.length === 0) return null;
  const usual = median(before);
  const now = recent.at(-1) ?? usual;
  const deviation = 1.4826 * median(before.map((value) => Math.abs(value - usual)));
  // What never moved would be infinitely unusual otherwise; the rate of a counter depends on when it was scraped.
  const spread = Math.max(deviation, Math.abs(usual) * (isCounter ? 0.1 : 0.01), 1e-9);
  const deviations = Math.min(1e6, Math.round((Math.abs(now - usual) / spread) * 10) / 10);
  const unit = isCounter ? `${unitOfMetric(name)}/s` : unitOfMetric(name);
  return { series, unit, usual, now, deviations };
}

/** By the second, from one point to the next; a counter that begins anew gives none. */
function ratesOf(points: Series['points']): Series['points'] {
  return points.flatMap(([at, value], index) => {
    const before = points[index - 1];
    if (before === undefined || value < before[1]) return [];
    return [[at, (value - before[1]) / (at - before[0])] as const];
  });
}

function median(values: readonly number[]): number {
  const ordered = values.toSorted((one, other) => one - other);
  return ordered[Math.floor(ordered.length / 2)] ?? 0;
}
