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
] as const;

/** What the source itself calls the thing that is ill, or null when no label tells. */
export function namedTarget(labels: Readonly<Record<string, string>>): string | null {
  for (const label of targetLabels) {
    const value = labels[label];
    if (value !== undefined && value !== '') return value;
  }
  return null;
}

/** `shop-db:5432` → `shop-db`, `[::1]:5432` → `::1`. A bare IPv6 address stays as it is. */
export function withoutPort(name: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(name)?.[1];
  return bracketed ?? name.replace(/^([^:]+):\d{1,5}$/, '$1');
}
