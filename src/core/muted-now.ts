import type { IncidentEvent } from './event.ts';
import type { IncidentRecord } from './incident-record.ts';

type Muted = Extract<IncidentEvent, { type: 'incident.muted' }>;

/** What an incident waits for; null: it does not, or it ended while it waited. */
export function mutedNow({ incident, events }: Pick<IncidentRecord, 'incident' | 'events'>): Muted | null {
  if (incident.mutedBy === null) return null;
  const last = events.findLast(
    ({ type }) =>
      type === 'incident.muted' ||
      (incident.state !== 'open' && (type === 'state.changed' || type === 'alert.resolved')),
  );
  return last?.type === 'incident.muted' ? last : null;
}
