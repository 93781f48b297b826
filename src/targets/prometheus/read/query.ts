import { z } from 'zod';
import { count } from '../../../core/count.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { readExpression } from '../promql.ts';
import {
  byLastValue,
  chartOf,
  formatLabels,
  formatValue,
  jsonValue,
  lastSeconds,
  MAX_SHOWN,
  notes,
  seriesLine,
} from '../series.ts';
import type { Prometheus } from '../system.ts';
import { minutes, prometheusTool, promql } from '../tool.ts';

/** How far back is looked for what returns nothing now: an hour, as often as most scrape. */
const LOOK_BACK = { seconds: 3_600, stepSeconds: 15 } as const;

/**
 * What PromQL returns. Data: `{ query, unit, total, series: [{ labels, value }] }`, largest first, null for a value that is no
 * number; over time instead of `value` a `chart`, see `chartOf`.
 */
export const queryPrometheus = prometheusTool.read({
  name: 'prometheus_query',
  description: `Runs PromQL, now or over the last minutes. Shows at most ${MAX_SHOWN} series: aggregate. No series is not zero: see prometheus_targets.`,
  kind: 'read',
  input: z.strictObject({
    query: promql,
    minutes: minutes.optional().describe('Left out: now.'),
  }),
  timeoutMs: 20_000,
  async run(context, { query, minutes: over }) {
    const { system } = context;
    const { unit } = readExpression(query);
    const found = over === undefined ? null : lastSeconds(over * 60, await system.now(context));
    const answered = found
      ? await system.queryRange(query, found, context)
      : await system.query(query, context);
    const shown = answered.series.toSorted(byLastValue).slice(0, MAX_SHOWN);
    const total = answered.series.length;
    const data = { query, unit, total };
    const when = over === undefined ? 'now' : `over ${count(over, 'minute')}`;
    const head =
      total === 0
        ? `${query} returns no series ${when}: that is not zero.${found ? '' : ` ${await lastSeen(system, query, context)}`}`
        : `${query} ${when}: ${total} series${found ? `, a step every ${count(found.stepSeconds, 'second')}` : ''}.`;
    return {
      text: [
        head,
        ...shown.map((series) =>
          found
            ? seriesLine(series, found, unit)
            : `${formatLabels(series.labels)}: ${valueOf(series.points[0]?.[1], unit)}`,
        ),
        ...notes(answered, shown.length),
      ].join('\n'),
      data: found
        ? { ...data, chart: chartOf(shown, found, unit) }
        : {
            ...data,
            series: shown.map(({ labels, points }) => ({
              labels,
              value: jsonValue(points[0]?.[1] ?? Number.NaN),
            })),
          },
    };
  },
});

const valueOf = (value: number | undefined, unit: string): string =>
  value === undefined ? 'a native histogram, which has no one value' : formatValue(value, unit);

/** Whether it was there a while ago: gone is another thing than never there. */
async function lastSeen(system: Prometheus, query: string, options: SessionOptions): Promise<string> {
  const to = await system.now(options);
  const range = { from: to - LOOK_BACK.seconds, to, stepSeconds: LOOK_BACK.stepSeconds };
  const { series } = await system.queryRange(query, range, options);
  let last = Number.NEGATIVE_INFINITY;
  for (const { points } of series) for (const [at] of points) if (at > last) last = at;
  if (!Number.isFinite(last)) return 'Nor did it in the last hour.';
  return `It last did ${Math.round((range.to - last) / 60)} min ago.`;
}
