import { z } from 'zod';
import { canonicalJson } from '../../../core/canonical-json.ts';
import { more } from '../../format.ts';
import { readExpression } from '../promql.ts';
import { byLastValue, formatLabels, formatValue, jsonValue, MAX_SHOWN, notes } from '../series.ts';
import type { Series } from '../system.ts';
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
    const then = before.map(({ series }) => byLabels(series));
    // What there was and is no more has changed as well.
    const gone = new Map(then.flatMap((series) => [...series]));
    for (const key of byLabels(current).keys()) gone.delete(key);
    const all = [
      ...current.toSorted(byLastValue),
      ...[...gone.values()].map(({ labels }) => ({ labels, points: [] })),
    ];
    const rows = all.slice(0, MAX_SHOWN).map((series) => ({
      labels: series.labels,
      values: [series, ...then.map((found) => found.get(canonicalJson(series.labels)))].map(
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

/** Tens of thousands of series may come: each is looked up, not compared with all. */
const byLabels = (series: readonly Series[]): ReadonlyMap<string, Series> =>
  new Map(series.map((one) => [canonicalJson(one.labels), one]));

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
