import { type Alert, severities } from '../core/alert.ts';
import type { Target } from '../core/target.ts';
import { fingerprintOf } from '../sources/fingerprint.ts';
import type { ReadResult } from '../sources/ports.ts';
import { matchTarget } from './match-target.ts';

/**
 * What to accept of a message that lists the alerts of a group: of one rule on one target it is one, as the group of a webhook is;
 * of several, one for each of them, since those are problems of their own.
 */
export function partsOfMessage(
  { alerts, together }: Extract<ReadResult, { readonly ok: true }>,
  targets: Iterable<Target>,
): readonly Alert[] {
  if (together === undefined) return alerts;
  const known = [...targets];
  const parts = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const key = JSON.stringify([alert.name, matchTarget(alert, known)?.name ?? null]);
    parts.set(key, [...(parts.get(key) ?? []), alert]);
  }
  return parts.size === 1 ? [together] : [...parts.values()].map((part) => asOne(part, together, known));
}

/** What they all tell, and tell alike; it fires while one of them does. */
function asOne(part: readonly Alert[], together: Alert, targets: readonly Target[]): Alert {
  const [first = together, ...others] = part;
  if (others.length === 0) return first;
  const labels = Object.fromEntries(
    Object.entries(first.labels).filter(([label, value]) =>
      others.every((other) => other.labels[label] === value),
    ),
  );
  const leads = part.find(({ status }) => status === 'firing') ?? first;
  const worst = severities.find((severity) => part.some((alert) => alert.severity === severity));
  return {
    ...leads,
    severity: worst ?? leads.severity,
    labels,
    annotations: { ...together.annotations, ...leads.annotations },
    target: matchTarget(first, targets)?.name ?? first.target,
    fingerprint: fingerprintOf(first.name ?? first.title, labels),
  };
}
