import { distinctiveWords, likeness } from '../../search/text/distinctive-words.ts';
import type { PastIncident } from './past-incident.ts';

/** Incidents that are alike, oldest first. */
export interface IncidentGroup {
  /** What they have in common, lower case with dashes: their kind, their alert, or the words of the first title. */
  readonly key: string;
  readonly incidents: readonly PastIncident[];
}

/** Fewer are no rule yet. */
const LEAST = 3;
/** Of the words of both titles. */
const ALIKE = 0.5;

/**
 * By the kind triage gave them; those without one by the alert's name; those without either with the first whose title has
 * half of its telling words in common. Largest group first; single cases are left out.
 */
export function groupIncidents(incidents: readonly PastIncident[]): readonly IncidentGroup[] {
  const groups = new Map<string, PastIncident[]>();
  const unnamed: { readonly key: string; readonly words: ReadonlySet<string> }[] = [];
  for (const incident of incidents) {
    const key = keyOf(incident) ?? keyByTitle(incident, unnamed);
    const group = groups.get(key);
    if (group) group.push(incident);
    else groups.set(key, [incident]);
  }
  return [...groups]
    .map(([key, members]) => ({ key, incidents: members }))
    .filter((group) => group.incidents.length >= LEAST)
    .toSorted((a, b) => b.incidents.length - a.incidents.length || (a.key < b.key ? -1 : 1));
}

function keyOf({ incidentType, alertName }: PastIncident): string | null {
  const named = incidentType ?? alertName;
  return named === null || slug(named) === '' ? null : slug(named);
}

function keyByTitle(
  { title }: PastIncident,
  known: { readonly key: string; readonly words: ReadonlySet<string> }[],
): string {
  const words = distinctiveWords(title);
  const alike = known.find((one) => likeness(one.words, words) >= ALIKE);
  if (alike) return alike.key;
  const key = slug([...words].slice(0, 4).join('-')) || 'unnamed';
  known.push({ key, words });
  return key;
}

/** As a part of a document's path. */
function slug(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
}
