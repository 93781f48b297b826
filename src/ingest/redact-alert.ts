import type { Alert } from '../core/alert.ts';
import { redact } from '../safety/screen/redact.ts';

/**
 * The alert as it may be stored, shown and given to a model (promise 6): people put connection strings into
 * annotations, and rules put query texts into labels. Its fingerprint and delivery key stay those of what came in.
 */
export function redactAlert(alert: Alert): Alert {
  return {
    ...alert,
    title: redact(alert.title),
    labels: redactValues(alert.labels),
    annotations: redactValues(alert.annotations),
    target: alert.target === null ? null : redact(alert.target),
    ...(alert.headline ? { headline: { ...alert.headline, text: redact(alert.headline.text) } } : {}),
    ...(alert.apart ? { apart: alert.apart.map(redact) } : {}),
    url: alert.url === null ? null : redact(alert.url),
  };
}

function redactValues(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, redact(value)]));
}
