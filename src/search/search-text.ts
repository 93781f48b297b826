import type { Incident } from '../core/incident.ts';

/** The kind and the title are the seed's query; what the alert says of itself tells siblings apart. */
export function searchText(incident: Incident, incidentType: string | null): string {
  const { title, alertName, annotations } = incident;
  return [
    incidentType?.replaceAll('_', ' '),
    title,
    alertName === title ? null : alertName,
    annotations['summary'],
    annotations['description'],
  ]
    .filter(Boolean)
    .join('\n');
}
