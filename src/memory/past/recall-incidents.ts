import { asIncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { Log } from '../../core/log.ts';
import type { HeldBack, PastCause, RecalledIncident } from '../../core/memory.ts';
import type { Sql } from '../../core/sql.ts';
import { incidentsOf } from '../../search/collections.ts';
import type { DistanceCuts } from '../../search/distance/distance-cuts.ts';
import type { Embedder, VectorFilter, VectorStore } from '../../search/ports.ts';
import { type Audiences, heldBackOf, toldOf } from '../audiences.ts';
import { type SystemFacts, systemMismatch } from '../systems/system-facts.ts';
import { clusterText } from './cluster-text.ts';
import { type Cluster, type PastCase, withoutNearCopies } from './clusters.ts';
import { formatEnds } from './incident-end.ts';
import { toldClusters } from './load-clusters.ts';
import { pastCausesOf } from './past-causes.ts';

/** The seed's number of past incidents; of past problems, now that one stands for all of a kind. */
const K = 6;
/** What came often is near often, and is one: so many more are asked for. */
const ASK_FOR = 60;

/** So much farther is an incident of an entirely different system: behind one of this system that says the same. */
const OTHER_SYSTEM = 0.25;

export interface RecalledPast {
  readonly incidents: readonly RecalledIncident[];
  readonly heldBack: HeldBack | null;
}

/**
 * Past problems that are similar, nearest first, each once; never the incident itself. The vector database says which
 * incidents are near. What they are, and who may read of them, the record says: an id that is no incident of this kind there
 * is passed over.
 */
export async function recallIncidents(
  deps: {
    readonly sql: Sql;
    readonly vectors: VectorStore;
    readonly embedder: Embedder;
    readonly audiences: Audiences;
    readonly log: Log;
    readonly cuts: () => DistanceCuts;
  },
  incident: Incident,
  incidentType: string | null,
  timeoutMs: number,
  system: SystemFacts | null = null,
): Promise<RecalledPast> {
  const [embedding] = await deps.embedder.embed([queryText(incident, incidentType)]);
  if (!embedding) return { incidents: [], heldBack: null };
  const filter = sameKind(incident, incidentType);
  const cuts = deps.cuts();
  const cut = filter ? cuts.sameKind : cuts.unnamed;
  const hits = await deps.vectors
    .collection(incidentsOf(incident.domain), deps.embedder.fingerprint)
    .query(embedding, ASK_FOR, timeoutMs, filter);
  const distances = new Map(
    hits
      .slice(0, ASK_FOR)
      .filter(({ id, distance }) => id !== incident.id && distance <= cut)
      // Nothing is nearer than the same, whatever the vector database says.
      .map(({ id, distance }) => [asIncidentId(id), Math.max(0, distance)]),
  );
  const here = { domain: incident.domain, here: incident.id };
  const near = [...distances.keys()];
  // Where near ones fill all that was looked at (one of them is the incident itself), others of their kind are found by the record alone.
  const isFull = near.length >= ASK_FOR - 1;
  const unseen = isFull ? Math.max(...distances.values()) : Number.POSITIVE_INFINITY;
  const [clusters, told] = await Promise.all([
    toldClusters(deps, { ...here, ids: near }),
    toldOf(deps, incident.id, near),
  ]);
  const found = clusters
    .map((cluster) => ({
      cluster,
      distance: distanceOf(cluster, { distances, unseen }, system, incident, incidentType),
    }))
    .filter(({ distance }) => distance <= cut)
    .toSorted((a, b) => a.distance - b.distance);
  const recalled = withoutNearCopies(found, ({ cluster }) => cluster).slice(0, K);
  const causes = await pastCausesOf(
    deps.sql,
    incident,
    recalled.map(({ cluster }) => cluster),
  );
  return {
    incidents: recalled.map(({ cluster, distance }) =>
      toRecalled(cluster, distance, causes.get(cluster.newest.id)),
    ),
    heldBack: heldBackOf(told, near),
  };
}

/** That of its nearest incident which is of the kind that was asked for. */
function distanceOf(
  { cases }: Cluster,
  { distances, unseen }: { readonly distances: ReadonlyMap<string, number>; readonly unseen: number },
  system: SystemFacts | null,
  incident: Incident,
  incidentType: string | null,
): number {
  return Math.min(
    ...cases
      .filter((one) => isSameKind(one, incident, incidentType))
      .map((one) => {
        const otherness = systemMismatch(system, one.system);
        return (distances.get(one.id) ?? unseen) * (1 + OTHER_SYSTEM * otherness);
      }),
    Number.POSITIVE_INFINITY,
  );
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

/** The same by the record; where the kind is known by neither, nearness alone speaks. */
function isSameKind(past: PastCase, { alertName }: Incident, incidentType: string | null): boolean {
  if (!incidentType) return !alertName || past.alertName === alertName;
  return past.incidentType === incidentType || (past.incidentType === null && past.alertName === alertName);
}

function toRecalled(cluster: Cluster, distance: number, check: PastCause | undefined): RecalledIncident {
  const { newest, cases } = cluster;
  return {
    incidentId: newest.id,
    title: newest.title,
    target: newest.target,
    incidentType: newest.incidentType,
    severity: newest.severity,
    distance,
    storedAt: newest.openedAt,
    times: cases.length,
    ended: formatEnds(cases.map(({ end }) => end)),
    document: clusterText(cluster),
    ...(check === undefined ? {} : { check }),
  };
}
