import type { Domain } from './incident.ts';

/**
 * The seed's rule for which memory an incident belongs to, from its labels alone:
 * `source_type=database` → postgres; else `container_runtime` podman or kubernetes; else docker.
 * A configured target's own domain comes before this.
 */
export function domainOfLabels(labels: Readonly<Record<string, string>>): Domain {
  if (labels['source_type'] === 'database') return 'postgres';
  if (labels['container_runtime'] === 'podman') return 'podman';
  if (labels['container_runtime'] === 'kubernetes') return 'kubernetes';
  return 'docker';
}
