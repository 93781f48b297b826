import type { Measure } from './measure.ts';
import type { Json } from './tool-call.ts';

/** The comparison by which an alert fires, turned round: what its metric must be to be healthy. */
export interface AlertRule {
  /** As the monitoring system calls it: `pg_stat_activity_count`. */
  readonly metric: string;
  /** Null: the alert names a threshold and not its side; the measure knows it. */
  readonly healthy: 'at_most' | 'at_least' | null;
  readonly bound: number;
  /** Null: the alert names none, and the metric has its own. */
  readonly unit: string | null;
}

/** What an alert may carry its rule in. */
export interface RuledAlert {
  /** Objects of texts. */
  readonly labels: Json;
  readonly annotations: Json;
  readonly url: string | null;
}

/**
 * The rule that all these alerts carry; null when they carry none, or not all the same. Only a bare comparison of one metric
 * with one number is understood: what would have to be calculated is somebody else's guess.
 */
export function alertRuleOf(alerts: readonly RuledAlert[]): AlertRule | null {
  const rules = alerts.flatMap(rulesIn);
  const [first] = rules;
  if (first === undefined || rules.includes('not understood')) return null;
  return rules.every((rule) => JSON.stringify(rule) === JSON.stringify(first)) && first !== 'not understood'
    ? first
    : null;
}

const EXPRESSIONS = ['expr', 'expression', 'promql', 'query'];

/** The expressions that an alert carries, as it says them. */
export function expressionsIn({ labels, annotations, url }: RuledAlert): readonly string[] {
  const all = new Map([...textsOf(labels), ...textsOf(annotations)]);
  return [...EXPRESSIONS.flatMap((key) => all.get(key) ?? []), ...expressionIn(url)];
}

function rulesIn(alert: RuledAlert): readonly (AlertRule | 'not understood')[] {
  const all = new Map([...textsOf(alert.labels), ...textsOf(alert.annotations)]);
  const [metric, threshold] = [all.get('metric'), all.get('threshold')];
  return [
    ...expressionsIn(alert).map((text) => comparison(text) ?? ('not understood' as const)),
    ...(metric === undefined || threshold === undefined
      ? []
      : [thresholdOf(metric, threshold) ?? ('not understood' as const)]),
  ];
}

/** The texts of an object, by their keys. */
export function textsOf(fields: Json): readonly (readonly [string, string])[] {
  return Object.entries(fields ?? {}).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
}

/** Prometheus links an alert to the graph of its rule: `…/graph?g0.expr=…`. */
function expressionIn(url: string | null): readonly string[] {
  const expression = url !== null && URL.canParse(url) ? new URL(url).searchParams.get('g0.expr') : null;
  return expression ? [expression] : [];
}

const METRIC = '[a-zA-Z_:][a-zA-Z0-9_:]*';
/** Labels that only say where it is measured. */
const SELECTOR = String.raw`(?:\{\s*(?:(?:instance|job|server)\s*=\s*"[^"{}]*"\s*,?\s*)*\})?`;
const NUMBER = String.raw`[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?`;
const BARE = new RegExp(`^\\s*(${METRIC})${SELECTOR}\\s*([<>])\\s*(${NUMBER})\\s*$`, 'u');
const AGGREGATED = new RegExp(
  `^\\s*(?:sum|max)\\s*\\(\\s*(${METRIC})${SELECTOR}\\s*\\)\\s*([<>])\\s*(${NUMBER})\\s*$`,
  'u',
);

/** `>=` is not among them: what is healthy then lies below its number, nobody says how far. */
function comparison(text: string): AlertRule | null {
  const [, metric, sign, number] = BARE.exec(text) ?? AGGREGATED.exec(text) ?? [];
  if (metric === undefined || !Number.isFinite(Number(number))) return null;
  return { metric, healthy: sign === '>' ? 'at_most' : 'at_least', bound: Number(number), unit: null };
}

const THRESHOLD = new RegExp(`^\\s*(${NUMBER})\\s*(%|[a-z]{1,20})?\\s*$`, 'u');

function thresholdOf(metric: string, threshold: string): AlertRule | null {
  const [, number, unit] = THRESHOLD.exec(threshold) ?? [];
  if (number === undefined || !Number.isFinite(Number(number))) return null;
  return { metric, healthy: null, bound: Number(number), unit: unit ?? null };
}

/** The bound that a rule sets for a measure; null where it is not plainly about it. */
export function ruleBound(measure: Measure, rule: AlertRule | null): number | null {
  if (rule === null || measure.healthy === 'steady') return null;
  if (!(measure.metrics ?? []).includes(rule.metric)) return null;
  if (rule.healthy !== null && rule.healthy !== measure.healthy) return null;
  return rule.unit === null || rule.unit === measure.unit ? rule.bound : null;
}

/** Whether a value that one bound calls healthy may be unhealthy by the other, and none the other way round. */
export function isStricter({ healthy }: Pick<Measure, 'healthy'>, bound: number, than: number): boolean {
  if (healthy === 'steady') return false;
  return healthy === 'at_most' ? bound < than : bound > than;
}
