import type { SessionOptions } from '../../tools/ports.ts';
import { readExpression } from './promql.ts';
import { formatLabels } from './series.ts';
import type { AlertingRule, Labels, Prometheus, Series } from './system.ts';

/** How an alert's condition is now. */
export interface AlertState {
  /** What its expression returns now, of the wanted labels: each is a reason to fire. */
  readonly samples: readonly Series[];
  /** Why an empty answer does not show that it is over; null: it does, or the answer is not empty. */
  readonly unclear: string | null;
}

/** A rule, and the labels of the alert as far as it is known which of several it is. */
interface Asked {
  readonly system: Prometheus;
  readonly rule: AlertingRule;
  readonly labels: Labels;
  readonly options: SessionOptions;
}

export async function alertState(asked: Asked): Promise<AlertState> {
  const { system, rule, options } = asked;
  const samples = ofAlert(asked, (await system.query(rule.expression, options)).series);
  return { samples, unclear: samples.length > 0 ? null : await whyUnclear(asked) };
}

/** Whether all of the wanted labels have the wanted values. */
export const hasLabels = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

/** A comparison may keep the metric's name or drop it. */
export function withoutName(labels: Labels): Labels {
  const { __name__: _, ...others } = labels;
  return others;
}

/** An alert has its rule's labels beside those of the series. */
const ofAlert = ({ rule, labels }: Asked, series: readonly Series[]): readonly Series[] =>
  series.filter((one) => hasLabels({ ...one.labels, ...rule.labels }, labels));

/** An alert about what nobody measures any more is quiet, and not over. */
async function whyUnclear(asked: Asked): Promise<string | null> {
  const { rule } = asked;
  if (rule.health === 'unknown') return 'Prometheus has not evaluated the rule yet.';
  if (rule.health !== 'ok') return `Prometheus cannot evaluate the rule: ${rule.error.slice(0, 200)}`;
  const { needs, comparison } = readExpression(rule.expression);
  for (const selector of needs) {
    const why = await whyNotMeasured(asked, selector);
    if (why !== null) return why;
  }
  return comparison === null ? null : whyGone(asked, comparison.measured);
}

/** Whether what gave the selector's series within the last hour gives them now, by job and instance. */
async function whyNotMeasured(asked: Asked, selector: string): Promise<string | null> {
  const { system, labels, options } = asked;
  const sources = async (of: string): Promise<readonly Labels[]> => {
    const { series } = await system.query(`count by (job, instance) (${of})`, options);
    return series
      .map((one) => one.labels)
      .filter((source) => Object.entries(source).every(([name, value]) => (labels[name] ?? value) === value));
  };
  const [before, now] = await Promise.all([sources(`last_over_time(${selector}[1h])`), sources(selector)]);
  if (now.length === 0) return `There is no series of ${selector} now, so nobody measures it.`;
  for (const source of before) {
    if (now.some((one) => isSame(one, source)) || (await isReplaced(asked, source, now))) continue;
    return `${formatLabels(source)} gave ${selector} within the last hour and does not now.`;
  }
  return null;
}

/** Whether that for which the alert was pending or firing within the last hour is measured still. */
async function whyGone(asked: Asked, measured: string): Promise<string | null> {
  const { system, rule, options } = asked;
  const name = JSON.stringify(rule.name);
  const [alerts, { series }] = await Promise.all([
    // Prometheus keeps them as series of their own.
    system.query(`last_over_time(ALERTS{alertname=${name}}[1h])`, options),
    system.query(measured, options),
  ]);
  // Labels that nothing has are no alert's, and silence about them says nothing.
  if (ofAlert(asked, series).length === 0) return 'Nothing that it compares has these labels now.';
  const now = series.map((one) => one.labels);
  for (const { labels } of ofAlert(asked, alerts.series)) {
    const { __name__: _, alertname: __, alertstate: ___, ...told } = labels;
    // A rule's own label may hide one of the series.
    const own = Object.fromEntries(Object.entries(told).filter(([key]) => !(key in rule.labels)));
    if (now.some((one) => hasLabels(one, own)) || (await isReplaced(asked, own, now))) continue;
    return `It held for ${formatLabels(own)} within the last hour, which is not measured now.`;
  }
  return null;
}

const isSame = (one: Labels, other: Labels): boolean => hasLabels(one, other) && hasLabels(other, one);

/** Prometheus scrapes it no more, and another one of its job has its place: a pod that was started anew. */
async function isReplaced(
  { system, options }: Asked,
  { job, instance }: Labels,
  now: readonly Labels[],
): Promise<boolean> {
  if (job === undefined || instance === undefined || !now.some((one) => one['job'] === job)) return false;
  return (await system.query(`up${formatLabels({ job, instance })}`, options)).series.length === 0;
}
