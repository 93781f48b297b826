import type { Alert } from '../core/alert.ts';
import { redact, redactJson } from '../safety/screen/redact.ts';

type Names = Readonly<Record<string, string>>;

/**
 * The alert as it may be stored, shown and given to a model (promise 6): people put connection strings into
 * annotations, and rules put query texts into labels. Its fingerprint and delivery key stay those of what came in.
 */
export function redactAlert(alert: Alert): Alert {
  return {
    ...alert,
    name: alert.name === null ? null : redact(alert.name),
    sourceSeverity: alert.sourceSeverity === null ? null : redact(alert.sourceSeverity),
    title: redact(alert.title),
    labels: redactNames(alert.labels),
    annotations: redactNames(alert.annotations),
    target: alert.target === null ? null : redact(alert.target),
    ...(alert.headline ? { headline: { ...alert.headline, text: redact(alert.headline.text) } } : {}),
    ...(alert.apart ? { apart: alert.apart.map(redact) } : {}),
    url: alert.url === null ? null : redact(alert.url),
  };
}

/** Keys as well as values, each pair by itself: what another label holds does not change how this one is hidden. */
function redactNames(names: Names): Names {
  return Object.fromEntries(
    Object.entries(names).flatMap(([key, value]) => Object.entries(redactJson({ [key]: value }) as Names)),
  );
}
