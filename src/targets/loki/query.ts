import { z } from 'zod';
import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import { toolsOf } from '../../tools/define.ts';
import { chartOf, lastSeconds, MAX_SHOWN, notes, seriesLine } from '../prometheus/series.ts';
import { minutes, promql } from '../prometheus/tool.ts';
import type { Loki } from './loki.ts';

const MAX_LINES = 100;
const MAX_LINE = 500;

/**
 * Log lines, or what LogQL counts. Data: `{ query, total, lines: [{ at, labels, line }] }`, oldest first, or `{ query, total, chart }`
 * of a metric query, see `chartOf`. `total` is how many came back; `cut`: whether there may be more.
 */
export const queryLoki = toolsOf<Loki>('loki', 'any').read({
  name: 'loki_query',
  description: `Runs LogQL over the last minutes: the newest ${MAX_LINES} lines, or the course of a metric query (rate, count_over_time).`,
  kind: 'read',
  input: z.strictObject({ query: promql, minutes: minutes.default(60) }),
  timeoutMs: 20_000,
  async run(context, { query, minutes: over }) {
    // Loki has no question for its clock.
    const range = lastSeconds(over * 60, Math.floor(Date.now() / 1_000));
    const found = await context.system.queryRange(query, { ...range, limit: MAX_LINES }, context);
    if (found.kind === 'series') {
      const shown = found.series.slice(0, MAX_SHOWN);
      const total = found.series.length;
      return {
        text: [
          total === 0
            ? `${query} returns no series over ${count(over, 'minute')}: that is not zero.`
            : `${query} over ${count(over, 'minute')}: ${total} series, a step every ${count(range.stepSeconds, 'second')}.`,
          ...shown.map((series) => seriesLine(series, range, '')),
          ...notes(found, shown.length),
        ].join('\n'),
        data: { query, total, chart: chartOf(shown, range, '') },
      };
    }
    const { lines } = found;
    const cut = lines.length >= MAX_LINES;
    return {
      text: [
        lines.length === 0
          ? `No line of ${query} in the last ${count(over, 'minute')}. Logs that nobody collects are not quiet: check the labels.`
          : `${cut ? 'The newest ' : ''}${count(lines.length, 'line')} of ${query}${cut ? '; there may be more' : ''}:`,
        ...lines.map(({ at, line }) => `${at.slice(0, 19)}Z ${clipLine(line, MAX_LINE)}`),
      ].join('\n'),
      data: {
        query,
        total: lines.length,
        cut,
        lines: lines.map(({ line, ...rest }) => ({ ...rest, line: clipLine(line, MAX_LINE) })),
      },
    };
  },
});
