import type { Entities } from '../documents/document.ts';

/** Label and field names of alerts (Prometheus, Kubernetes, OpenTelemetry), by what they name. */
const NAMES: Readonly<Record<keyof Entities, string>> = {
  namespace: 'namespace|ns|exported_namespace|k8s_namespace_name|datname|database',
  resource:
    'pod|container|deployment|statefulset|daemonset|replicaset|cronjob|job_name|node|instance|persistentvolumeclaim|relname|table|resource',
  environment: 'environment|env|stage|deployment_environment',
  service: 'service|app|application|component|service_name|svc',
};
/** As people write it in a sentence: `in production`, `namespace shop`. */
const ENVIRONMENTS = /\b(production|prod|staging|stage|development|dev|testing|qa|canary)\b/gi;
const SAME: Readonly<Record<string, string>> = {
  prod: 'production',
  stage: 'staging',
  dev: 'development',
};

/**
 * What an alert or a question is about: its labels, and `namespace=shop`, `service: orders`, `pod "orders-0"` and names
 * of environments in its text. Linear in the text, of which the first 4,000 characters count.
 */
export function entitiesOf(text: string, labels: Readonly<Record<string, string>> = {}): Entities {
  const told = text.slice(0, 4_000);
  const of = (kind: keyof Entities): readonly string[] => {
    const label = new RegExp(`^(?:${NAMES[kind]})$`, 'i');
    const written = new RegExp(
      `\\b(?:${NAMES[kind]})(?:[ \\t]{0,2}[=:][ \\t]{0,2}|[ \\t])["'\`]?([A-Za-z0-9][\\w.-]{1,80})`,
      'gi',
    );
    const found = [
      ...Object.entries(labels).flatMap(([name, value]) => (label.test(name) ? [value] : [])),
      ...[...told.matchAll(written)].map((match) => match[1] ?? ''),
      ...(kind === 'environment' ? [...told.matchAll(ENVIRONMENTS)].map((match) => match[0]) : []),
    ];
    return [...new Set(found.map((name) => normal(kind, name)).filter((name) => name !== ''))];
  };
  return {
    namespace: of('namespace'),
    resource: of('resource'),
    environment: of('environment'),
    service: of('service'),
  };
}

/** Without the dot that ends a sentence; an environment by its whole name. */
function normal(kind: keyof Entities, name: string): string {
  const clean = name
    .trim()
    .toLowerCase()
    .replace(/[.-]+$/, '');
  return kind === 'environment' ? (SAME[clean] ?? clean) : clean;
}
