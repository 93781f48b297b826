import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { OpsError } from '../../../core/errors.ts';
import { measureAt } from '../../../core/measure.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { age, more } from '../../format.ts';
import { alertState, hasLabels, withoutName } from '../alert-state.ts';
import { readExpression } from '../promql.ts';
import {
  byLastValue,
  chartOf,
  formatLabels,
  formatValue,
  jsonValue,
  lastSeconds,
  seriesLine,
} from '../series.ts';
import type { AlertingRule, Labels, Prometheus, Range } from '../system.ts';
import { labelValues, minutes, prometheusTool } from '../tool.ts';

/** Rules of one name, and series of one rule, that are shown. */
const MAX_RULES = 5;
const MAX_SERIES = 5;

/**
 * The rules behind an alert and how their expressions are. Data: `{ alert, returned, rules: [{ expression, for_seconds, labels,
 * annotations, state, health, error, returned, unclear, sign, bound, samples: [{ labels, value }], chart }] }`; `returned` is null
 * where nothing came back and that does not show that it is over, `unclear` says why. `sign` and `bound` are null where the
 * expression is no comparison with a number; `chart` (see `chartOf`) is of what is compared.
 */
export const prometheusAlert = prometheusTool.read({
  name: 'prometheus_alert',
  description:
    'The rule behind an alert: expression, state, what it returns now, and what it compares over the last minutes. Tells whether the alert’s own condition is over.',
  kind: 'read',
  measures: [
    measureAt('returned', {
      name: 'alert_condition',
      label: 'series for which the alert’s own condition holds',
      well: 'the alert’s own condition holds for {bound}',
      unit: 'series',
      healthy: 'at_most',
      bound: 0,
    }),
  ],
  input: z.strictObject({
    alert: z.string().min(1).max(200).describe('Its label alertname.'),
    labels: labelValues.default({}).describe('Only what has these labels.'),
    minutes: minutes.default(60),
  }),
  timeoutMs: 30_000,
  async run(context, { alert, labels, minutes: over }) {
    const { system } = context;
    const all = await system.alertingRules(alert, context);
    // One name may have a rule for each severity.
    const named = all.filter((rule) => hasLabels({ ...labels, ...rule.labels }, labels));
    if (named.length === 0)
      throw new OpsError(
        'PROMETHEUS_NO_RULE',
        `Prometheus has no alerting rule called ${alert}${all.length > 0 ? ' with these labels' : ''}.`,
        { hint: 'Names are case-sensitive; the rule may be on another server.' },
      );
    const range = lastSeconds(over * 60, await system.now(context));
    const rules = await Promise.all(
      named.slice(0, MAX_RULES).map((rule) => readRule(system, rule, { labels, range, options: context })),
    );
    const returned = rules.map((rule) => rule.returned);
    const sum = returned.reduce<number>((total, one) => total + (one ?? 0), 0);
    const isTold = sum > 0 || (named.length <= MAX_RULES && !returned.includes(null));
    return {
      text: [...rules.map(({ text }) => text), ...more(named.length, rules.length)].join('\n\n'),
      data: { alert, returned: isTold ? sum : null, rules: rules.map(({ data }) => data) },
    };
  },
});

interface Wanted {
  readonly labels: Labels;
  readonly range: Range;
  readonly options: SessionOptions;
}

async function readRule(
  system: Prometheus,
  rule: AlertingRule,
  { labels, range, options }: Wanted,
): Promise<{ readonly text: string; readonly returned: number | null; readonly data: Json }> {
  const { comparison, unit } = readExpression(rule.expression);
  const measured = comparison?.measured ?? rule.expression;
  const [{ samples, unclear }, course] = await Promise.all([
    alertState({ system, rule, labels, options }),
    system.queryRange(measured, range, options),
  ]);
  const isFiring = (of: Labels): boolean =>
    samples.some((sample) => hasLabels(of, withoutName(sample.labels)));
  const watched = course.series.filter((series) => hasLabels({ ...series.labels, ...rule.labels }, labels));
  const ordered = watched.toSorted(
    (one, other) => Number(isFiring(other.labels)) - Number(isFiring(one.labels)) || byLastValue(one, other),
  );
  const shown = ordered.slice(0, MAX_SERIES);
  const returned = unclear === null ? samples.length : null;
  const { name, expression, forSeconds, error, ...told } = rule;
  const text = [
    `${name} is ${rule.state}: ${expression}${forSeconds > 0 ? `, for ${age(forSeconds)}` : ''} ${formatLabels(rule.labels)}`,
    samples.length > 0
      ? `Its condition holds now for ${samples.length} series:`
      : unclear === null
        ? 'Its condition holds for nothing now, and what it reads is measured.'
        : `It returns nothing now, which does not show that it is over. ${unclear}`,
    ...samples
      .slice(0, MAX_SERIES)
      .map((one) => `  ${formatLabels(one.labels)}: ${formatValue(one.points[0]?.[1] ?? Number.NaN, unit)}`),
    ...more(samples.length, Math.min(samples.length, MAX_SERIES)),
    `${measured} over ${count(Math.round((range.to - range.from) / 60), 'minute')}${comparison === null ? '' : ` (fires at ${comparison.sign} ${formatValue(comparison.bound, unit)})`}:`,
    ...(shown.length === 0
      ? ['  no series in that time']
      : shown.map((one) => `  ${seriesLine(one, range, unit)}`)),
    ...more(ordered.length, shown.length),
  ].join('\n');
  return {
    text,
    returned,
    data: {
      ...told,
      expression,
      for_seconds: forSeconds,
      error,
      returned,
      unclear,
      sign: comparison?.sign ?? null,
      bound: comparison?.bound ?? null,
      samples: samples
        .slice(0, MAX_SERIES)
        .map((one) => ({ labels: one.labels, value: jsonValue(one.points[0]?.[1] ?? Number.NaN) })),
      chart: chartOf(shown, range, unit),
    },
  };
}
