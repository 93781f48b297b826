import { canonicalJson } from '../../core/canonical-json.ts';
import { count } from '../../core/count.ts';
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
  const { series, warnings } = await system.query(rule.expression, options);
  const samples = ofAlert(asked, series);
  return { samples, unclear: samples.length > 0 ? null : (warned(warnings) ?? (await whyUnclear(asked))) };
}

/** Whether all of the wanted labels have the wanted values. */
export const hasLabels = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

/** A comparison may keep the metric's name or drop it. */
export function withoutName(labels: Labels): Labels {
  const { __name__: _, ...others } = labels;
  return others;
}

/** An alert has its rule's labels and name beside those of the series. */
const ofAlert = ({ rule, labels }: Asked, series: readonly Series[]): readonly Series[] =>
  series.filter((one) => hasLabels({ ...one.labels, ...rule.labels, alertname: rule.name }, labels));

/** What was left out may be what was asked for. */
const warned = ([warning]: readonly string[]): string | null =>
  warning === undefined ? null : `Prometheus warns against its own answer: ${warning.slice(0, 200)}`;

/**
 * An alert about what nobody measures any more is quiet, and not over. It is over only where all that the expression reads is
 * measured now for the very labels of the alert, and is a number.
 */
async function whyUnclear(asked: Asked): Promise<string | null> {
  const { rule } = asked;
  if (rule.health === 'unknown') return 'Prometheus has not evaluated the rule yet.';
  if (rule.health !== 'ok') return `Prometheus cannot evaluate the rule: ${rule.error.slice(0, 200)}`;
  const { needs, measured, compared } = readExpression(rule.expression);
  const about = await labelSets(asked);
  if (typeof about === 'string') return about;
  for (const selector of needs) {
    const why = await whyNotScraped(asked, about, selector);
    if (why !== null) return why;
  }
  return (await whyNotMeasured(asked, about, measured)) ?? whyNoNumber(asked, about, compared);
}

/** The labels that the alert is about, without its rule's: as they are named, and as it was pending or firing within the last hour. */
async function labelSets(asked: Asked): Promise<readonly Labels[] | string> {
  const { system, rule, labels, options } = asked;
  const name = JSON.stringify(rule.name);
  // Prometheus keeps them as series of their own.
  const { series, warnings } = await system.query(`last_over_time(ALERTS{alertname=${name}}[1h])`, options);
  const without = (told: Labels, names: readonly string[]): Labels =>
    Object.fromEntries(Object.entries(told).filter(([key]) => !names.includes(key)));
  // A rule's own label may hide one of the series.
  const ofRule = [...Object.keys(rule.labels), ...(labels['alertname'] === rule.name ? ['alertname'] : [])];
  const held = ofAlert(asked, series).map((one) =>
    without(one.labels, [...ofRule, '__name__', 'alertname', 'alertstate']),
  );
  const named = without(labels, ofRule);
  const all = Object.keys(named).length > 0 ? [named, ...held] : held;
  if (all.length === 0)
    return 'It has held for nothing within the last hour, and no labels say which series it is about.';
  if (all.length > MOST_HELD)
    return `It has held for ${count(all.length, 'thing')} within the last hour, which is too many to look at each.`;
  return warned(warnings) ?? all;
}

/** Each is held against every series that its expression reads, of which there may be tens of thousands. */
const MOST_HELD = 200;

const isConsistent = (one: Labels, other: Labels): boolean =>
  Object.entries(one).every(([name, value]) => (other[name] ?? value) === value);

/** Whether what gave the selector's series within the last hour gives them now, by job, instance and the alert's labels. */
async function whyNotScraped(
  { system, options }: Asked,
  about: readonly Labels[],
  selector: string,
): Promise<string | null> {
  const by = [...new Set(['job', 'instance', ...about.flatMap(Object.keys)])].join(', ');
  const sources = async (of: string): Promise<readonly Labels[]> =>
    (await system.query(`count by (${by}) (${of})`, options)).series.map((one) => one.labels);
  const [before, now] = await Promise.all([sources(`last_over_time(${selector}[1h])`), sources(selector)]);
  const measured = new Set(now.map((one) => canonicalJson(one)));
  if (now.length === 0) return `There is no series of ${selector} now, so nobody measures it.`;
  for (const source of before) {
    if (measured.has(canonicalJson(source))) continue;
    const alerts = about.filter((one) => isConsistent(source, one));
    if (alerts.length === 0) continue;
    // Of an alert about all of a job, one of them may be another by now: a pod that was started anew.
    const isOfAll = alerts.every((one) => one['instance'] === undefined);
    if (isOfAll && (await isReplaced(system, options, source, now))) continue;
    return `${formatLabels(source)} gave ${selector} within the last hour and does not now.`;
  }
  return null;
}

/** Prometheus scrapes it no more, and another one of its job gives the same. */
async function isReplaced(
  system: Prometheus,
  options: SessionOptions,
  { job, instance, ...others }: Labels,
  now: readonly Labels[],
): Promise<boolean> {
  if (job === undefined || instance === undefined) return false;
  if (!now.some((one) => hasLabels(one, { job, ...others }))) return false;
  return (await system.query(`up${formatLabels({ job, instance })}`, options)).series.length === 0;
}

/** Whether the expression without its comparisons returns something for all that the alert is about. */
async function whyNotMeasured(
  { system, options }: Asked,
  about: readonly Labels[],
  measured: readonly string[],
): Promise<string | null> {
  const has = ({ series }: { readonly series: readonly Series[] }, labels: Labels): boolean =>
    series.some((one) => hasLabels(one.labels, labels));
  const now = await Promise.all(measured.map((part) => system.query(part, options)));
  for (const { warnings } of now) if (warnings.length > 0) return warned(warnings);
  const gone = about.find((labels) => !now.some((part) => has(part, labels)));
  if (gone) return `${formatLabels(gone)} is not measured now.`;
  if (measured.length < 2) return null;
  // Any side of an `or` may have been the one that held.
  for (const [at, part] of measured.entries()) {
    const before = await system.query(`last_over_time((${part})[1h:30s])`, options);
    const lost = about.find((labels) => has(before, labels) && !has(now[at] ?? before, labels));
    if (lost) return `${formatLabels(lost)} is not measured now by ${part}.`;
  }
  return null;
}

async function whyNoNumber(
  { system, options }: Asked,
  about: readonly Labels[],
  compared: readonly string[],
): Promise<string | null> {
  for (const part of compared) {
    const { series, warnings } = await system.query(part, options);
    if (warnings.length > 0) return warned(warnings);
    const odd = series.find(
      ({ labels, points }) =>
        Number.isNaN(points[0]?.[1] ?? Number.NaN) &&
        about.some((one) => isConsistent(withoutName(labels), one)),
    );
    if (odd) return `${part} is no number (NaN) now for ${formatLabels(odd.labels)}.`;
  }
  return null;
}
