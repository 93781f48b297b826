import { z } from 'zod';
import { more } from '../../format.ts';
import { readExpression } from '../promql.ts';
import { byLastValue, formatLabels, formatValue, jsonValue, MAX_SHOWN, notes } from '../series.ts';
import type { Labels, Series } from '../system.ts';
import { prometheusTool, promql } from '../tool.ts';

const BEFORE = [
  { name: 'hour', says: 'an hour ago', seconds: 3_600 },
  { name: 'day', says: 'a day ago', seconds: 86_400 },
  { name: 'week', says: 'a week ago', seconds: 7 * 86_400 },
] as const;

/**
 * What PromQL returns now against an hour, a day and a week ago. Data: `{ query, unit, total, series: [{ labels, now, hour_ago,
 * day_ago, week_ago, hour_ratio, day_ratio, week_ratio }] }`; null where there was no number, a ratio also where it was 0.
 */
export const comparePrometheus = prometheusTool.read({
  name: 'prometheus_compare',
  description:
    'PromQL now against an hour, a day and a week ago, with ratios: whether a value is unusual. Rates, not counters.',
  kind: 'read',
  input: z.strictObject({ query: promql }),
  timeoutMs: 20_000,
  async run(context, { query }) {
    const { system } = context;
    const { unit } = readExpression(query);
    const at = await system.now(context);
    const [now, ...before] = await Promise.all(
      [0, ...BEFORE.map(({ seconds }) => seconds)].map((ago) => system.query(query, context, at - ago)),
    );
    const current = now?.series ?? [];
    // What there was and is no more has changed as well.
    const gone = before
      .flatMap(({ series }) => series)
      .filter((one, index, all) => all.findIndex((other) => isSame(one, other)) === index)
      .filter((one) => !current.some((other) => isSame(one, other)));
    const all = [...current.toSorted(byLastValue), ...gone.map(({ labels }) => ({ labels, points: [] }))];
    const rows = all.slice(0, MAX_SHOWN).map((series) => ({
      labels: series.labels,
      values: [series, ...before.map((then) => then.series.find((one) => isSame(one, series)))].map(
        (one) => one?.points[0]?.[1] ?? null,
      ),
    }));
    return {
      text: [
        all.length === 0
          ? `${query} returns no series, now or then: that is not zero.`
          : `${query} now, and an hour, a day and a week ago:`,
        ...rows.map(({ labels, values }) => `${formatLabels(labels)}: ${formatRow(values, unit)}`),
        ...more(all.length, rows.length),
        ...notes({ series: [], warnings: now?.warnings ?? [] }, 0),
      ].join('\n'),
      data: {
        query,
        unit,
        total: all.length,
        series: rows.map(({ labels, values: [value = null, ...then] }) => ({
          labels,
          now: jsonOrNull(value),
          ...Object.fromEntries(
            BEFORE.flatMap(({ name }, index) => [
              [`${name}_ago`, jsonOrNull(then[index] ?? null)],
              [`${name}_ratio`, jsonOrNull(ratioOf(value, then[index] ?? null))],
            ]),
          ),
        })),
      },
    };
  },
});

const jsonOrNull = (value: number | null) => (value === null ? null : jsonValue(value));

function isSame(one: Pick<Series, 'labels'>, other: Pick<Series, 'labels'>): boolean {
  const entries = Object.entries(one.labels);
  return (
    entries.length === Object.keys(other.labels).length &&
    entries.every(([name, value]) => (other.labels as Labels)[name] === value)
  );
}

/** Rounded to a hundredth; null where there is none. */
function ratioOf(now: number | null, then: number | null): number | null {
  if (now === null || then === null || then === 0) return null;
  return Math.round((now / then) * 100) / 100;
}

function formatRow([now = null, ...then]: readonly (number | null)[], unit: string): string {
  const parts = then.map((value, index) => {
    const when = BEFORE[index]?.says;
    if (value === null) return `not there ${when}`;
    const ratio = ratioOf(now, value);
    return `${formatValue(value, unit)} ${when}${ratio === null || !Number.isFinite(ratio) ? '' : ` (×${ratio})`}`;
  });
  return `${now === null ? 'not there now' : `${formatValue(now, unit)} now`}, ${parts.join(', ')}`;
}
