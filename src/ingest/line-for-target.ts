import { stringify } from 'yaml';
import { namedTarget, withoutPort } from '../sources/target.ts';

/** Labels of a cluster that say what runs, not which copy of it: copies go, and an exporter's own address says nothing. */
const PLACE = ['cluster', 'namespace', 'kube_namespace'];
const WORKLOAD = ['deployment', 'kube_deployment', 'statefulset', 'workload', 'container', 'app', 'service'];
const MAX_VALUE = 200;

/**
 * The line to write into a target's entry in `sentry.yaml` so that alerts with these labels find it; null where no label would
 * tell it. Labels are anybody's text: only what reads as it is written is offered, quoted as YAML needs it.
 */
export function lineForTarget(labels: Readonly<Record<string, string>>): string | null {
  const plain = Object.fromEntries(
    Object.entries(labels).filter(([label, value]) => isPlain(label) && isPlain(value)),
  );
  const pick = (names: readonly string[]) => Object.entries(plain).filter(([name]) => names.includes(name));
  const workload = pick(WORKLOAD).slice(0, 2);
  if (pick(PLACE).length > 0 && workload.length > 0) return ruleOf([...pick(PLACE), ...workload]);
  const name = namedTarget(plain);
  if (name !== null) return `aliases: ${inline([withoutPort(name)])}`;
  const last = pick([...PLACE, ...WORKLOAD, 'alertname']);
  return last.length > 0 ? ruleOf(last) : null;
}

const ruleOf = (labels: readonly (readonly [string, string])[]): string =>
  `alerts: ${inline([{ labels: Object.fromEntries(labels) }])}`;

const inline = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim();

/** One line without hidden or control characters; no pattern, which would fit more than this; nothing that was taken out of it. */
const isPlain = (text: string): boolean =>
  text.length <= MAX_VALUE &&
  text === text.trim() &&
  /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(text) &&
  !/\*|\[redacted:/u.test(text);
