import type { IncidentRecord } from '../core/incident-record.ts';

/** Sources that know no time of beginning write the year 1, the Unix epoch or the like. */
const NO_TIME_BEFORE = Date.UTC(2001, 0);

/** An alert that fires again is told within this time. */
const TOLD_MS = 5 * 60_000;

/**
 * When the problem began as the incident's own alert says, and not one that was only put with it: the last time that it began
 * to fire. Of one that fired again after its end, only what began then counts. Null where it does not say.
 */
export function alertStartedAt({
  incident,
  alerts,
  events = [],
}: Pick<IncidentRecord, 'incident' | 'alerts'> & Partial<Pick<IncidentRecord, 'events'>>): string | null {
  const again = events.findLast((event) => event.type === 'alert.repeated' && event.again === true);
  const since = again === undefined ? NO_TIME_BEFORE : Date.parse(again.at) - TOLD_MS;
  const firing = alerts.filter(
    ({ status, startsAt }) => status === 'firing' && Date.parse(startsAt) >= since,
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
