import type { IncidentRecord } from '../core/incident-record.ts';

/** Sources that know no time of beginning write the year 1, the Unix epoch or the like. */
const NO_TIME_BEFORE = Date.UTC(2001, 0);

/**
 * When the problem began as the incident's own alert says, and not one that was only put with it: the last time that it began
 * to fire. Null where it does not say.
 */
export function alertStartedAt({
  incident,
  alerts,
}: Pick<IncidentRecord, 'incident' | 'alerts'>): string | null {
  const firing = alerts.filter(
    ({ status, startsAt }) => status === 'firing' && Date.parse(startsAt) >= NO_TIME_BEFORE,
  );
  const own = firing.filter(
    ({ title, labels }) => nameIn(labels) === incident.alertName || title === incident.title,
  );
  // Of a group: of the first of them.
  if (incident.members > 1) return own.map(({ startsAt }) => startsAt).toSorted()[0] ?? null;
  return (own.at(-1) ?? firing.at(-1))?.startsAt ?? null;
}

function nameIn(labels: unknown): string | null {
  const name: unknown =
    typeof labels === 'object' && labels !== null && 'alertname' in labels ? labels.alertname : null;
  return typeof name === 'string' ? name : null;
}
