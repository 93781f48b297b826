import { type Alert, bareValues } from '../core/alert.ts';
import type { Target } from '../core/target.ts';

/** Labels that name what is ill, the telling ones first. */
export const targetLabels = [
  'target',
  'instance',
  'server',
  'host',
  'hostname',
  'service',
  'service_name',
  'datname',
  'database',
  'db',
  'pod',
  'container',
  'deployment',
  'statefulset',
  'daemonset',
  'kube_deployment',
  'node',
  'cluster',
  'job',
  'pipeline_name',
  'workload',
  'namespace',
] as const;

/** What the source itself calls the thing that is ill, or null when no label tells. */
export function namedTarget(labels: Readonly<Record<string, string>>): string | null {
  for (const label of targetLabels) {
    const value = labels[label];
    if (value !== undefined && value !== '') return value;
  }
  return null;
}

/**
 * The configured target an alert is about: the first of its telling labels that is, whole and case-insensitively, a
 * target's name or alias, with or without its port. Null when none is.
 */
export function matchTarget(
  alert: Pick<Alert, 'target' | 'labels' | 'annotations'>,
  targets: readonly Target[],
): Target | null {
  const byName = new Map<string, Target>();
  for (const target of targets) {
    for (const name of [target.name, ...target.aliases]) {
      if (!byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), target);
    }
  }
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

/** `shop-db:5432` → `shop-db`, `[::1]:5432` → `::1`. A bare IPv6 address stays as it is. */
function withoutPort(name: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(name)?.[1];
  return bracketed ?? name.replace(/^([^:]+):\d{1,5}$/, '$1');
}
