import { asIncidentId } from '../domain/ids.ts';
import type { Incident } from '../domain/incident.ts';
import type { RecalledIncident } from '../domain/memory.ts';
import { incidentsOf } from './collections.ts';
import type { DistanceCuts } from './distance/distance-cuts.ts';
import type { Embedder, VectorFilter, VectorHit, VectorStore } from './ports.ts';
import { readFacts, type SystemFacts, systemMismatch } from './systems/system-facts.ts';

/** The seed's number of past incidents. */
const K = 6;
/** The same target's own earlier versions and the incident itself are dropped after the query. */
const ASK_FOR = K + 4;

/** So much farther is an incident of an entirely different system: behind one of this system that says the same. */
const OTHER_SYSTEM = 0.25;

/** Past incidents that are similar, nearest first; never the incident itself. */
export async function recallIncidents(
  deps: { readonly vectors: VectorStore; readonly embedder: Embedder; readonly cuts: () => DistanceCuts },
  incident: Incident,
  incidentType: string | null,
  timeoutMs: number,
  system: SystemFacts | null = null,
): Promise<readonly RecalledIncident[]> {
  const [embedding] = await deps.embedder.embed([queryText(incident, incidentType)]);
  if (!embedding) return [];
  const filter = sameKind(incident, incidentType);
  const cuts = deps.cuts();
  const cut = filter ? cuts.sameKind : cuts.unnamed;
  const hits = await deps.vectors
    .collection(incidentsOf(incident.domain), deps.embedder.fingerprint)
    .query(embedding, ASK_FOR, timeoutMs, filter);
  return hits
    .map((hit) => ({ ...hit, distance: hit.distance * (1 + OTHER_SYSTEM * otherness(system, hit)) }))
    .filter(({ id, distance }) => id !== incident.id && distance <= cut)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, K)
    .map(toRecalled);
}

/** `"<incident type> <title>"`, the seed's query. */
export function queryText(incident: Incident, incidentType: string | null): string {
  return [incidentType?.replaceAll('_', ' '), incident.title].filter(Boolean).join(' ');
}

/** The kind is known by triage; before that, and for incidents that ended before it, by the alert's name. */
function sameKind({ alertName }: Incident, incidentType: string | null): VectorFilter | undefined {
  const named = alertName ? [{ alert_name: alertName }] : [];
  if (!incidentType) return named.length > 0 ? named : undefined;
  return [{ incident_type: incidentType }, ...named.map((name) => ({ ...name, incident_type: '' }))];
}

function otherness(system: SystemFacts | null, { metadata }: VectorHit): number {
  const then = metadata['system_fingerprint'];
  return typeof then === 'string' ? systemMismatch(system, readFacts(JSON.parse(then))) : 0;
}

function toRecalled({ id, document, metadata, distance }: VectorHit): RecalledIncident {
  const text = (key: string): string => String(metadata[key] ?? '');
  return {
    incidentId: asIncidentId(id),
    title: text('title'),
    target: text('target') || null,
    incidentType: text('incident_type') || null,
    severity: text('severity'),
    distance,
    storedAt: text('stored_at'),
    document,
  };
}
