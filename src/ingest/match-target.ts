import { type Alert, bareValues } from '../core/alert.ts';
import { matchesGlob } from '../core/glob.ts';
import type { LabelRule, Target } from '../core/target.ts';
import { alertSources } from '../sources/registry.ts';
import { targetLabels, withoutPort } from '../sources/target.ts';

/**
 * The configured target an alert is about: the first that has a rule for its labels; else, by the first of its telling labels
 * that is, whole and case-insensitively, a target's name or, after that, an alias, with or without its port. Of two targets
 * that fit alike the first is taken (`mappingFaults` tells of them). Null when none fits.
 */
export function matchTarget(
  alert: Pick<Alert, 'source' | 'target' | 'labels' | 'annotations'>,
  targets: readonly Target[],
): Target | null {
  const ruled = namesItsTarget(alert)
    ? undefined
    : targets.find(({ alerts = [] }) => alerts.some((rule) => fitsRule(rule, alert.labels)));
  return ruled ?? targetCalled(alert, targets);
}

/** What a person opened, or a target told of itself, is about the target it was said of. */
const namesItsTarget = ({ source }: Pick<Alert, 'source'>): boolean =>
  source === 'hand' || alertSources.some(({ name, arrives }) => name === source && arrives === 'watch');

function fitsRule({ labels: wanted }: LabelRule, labels: Alert['labels']): boolean {
  return Object.entries(wanted).every(([label, pattern]) => {
    // An empty label is none, as in Prometheus.
    const value = Object.hasOwn(labels, label) ? labels[label] : '';
    return Boolean(value) && matchesGlob(pattern, value ?? '');
  });
}

function targetCalled(
  alert: Pick<Alert, 'target' | 'labels' | 'annotations'>,
  targets: readonly Target[],
): Target | null {
  const byName = new Map<string, Target>();
  const called = [
    ...targets.map((target) => [target.name, target] as const),
    ...targets.flatMap((target) => target.aliases.map((alias) => [alias, target] as const)),
  ];
  for (const [name, target] of called)
    if (!byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), target);
  const bare = alert.annotations[bareValues]?.split(/\s+/) ?? [];
  const candidates = [alert.target, ...targetLabels.map((label) => alert.labels[label]), ...bare];
  for (const candidate of candidates) {
    if (!candidate) continue;
    const name = candidate.trim().toLowerCase();
    const found = byName.get(name) ?? byName.get(withoutPort(name));
    if (found) return found;
  }
  return null;
}

/** Aliases and rules that no alert ever comes to, because a target before it has what fits as well; a line each. */
export function mappingFaults(targets: readonly Target[]): readonly string[] {
  return targets.flatMap((target, at) =>
    targets.flatMap((other, place) => [
      ...target.aliases
        .filter((alias) => takesAlias(other, alias, place < at))
        .map(
          (alias) => `alias "${alias}" of ${target.name} is ${other.name}'s: its alerts go to ${other.name}`,
        ),
      ...(place < at ? (target.alerts ?? []) : [])
        .filter((rule) => other.alerts?.some((first) => covers(first, rule)))
        .map(
          (rule) =>
            `${target.name}: alerts with ${formatRule(rule)} go to ${other.name}, which stands before it`,
        ),
    ]),
  );
}

function takesAlias(other: Target, alias: string, isBefore: boolean): boolean {
  const same = (name: string): boolean => name.toLowerCase() === alias.toLowerCase();
  return same(other.name) || (isBefore && other.aliases.some(same));
}

/** Whether every alert that fits `rule` fits `first` as well. A pattern that fits another one's text fits all that it fits. */
function covers(first: LabelRule, rule: LabelRule): boolean {
  return Object.entries(first.labels).every(
    ([label, pattern]) => Object.hasOwn(rule.labels, label) && matchesGlob(pattern, rule.labels[label] ?? ''),
  );
}

const formatRule = ({ labels }: LabelRule): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(', ');
