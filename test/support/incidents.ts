import type { Diagnosis } from '../../src/core/diagnosis.ts';
import { asIncidentId } from '../../src/core/ids.ts';
import type { Incident } from '../../src/core/incident.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';

const at = '2026-03-01T10:00:00.000Z';

/** An open incident of the target `shop-db`. */
export function anIncident(change: Partial<Incident> = {}): Incident {
  return {
    id: asIncidentId('INC-1'),
    state: 'open',
    stoppedFrom: null,
    title: 'PostgresBlockedSessions',
    alertName: 'PostgresBlockedSessions',
    severity: 'critical',
    domain: 'postgres',
    target: 'shop-db',
    incidentType: null,
    routine: null,
    fingerprint: 'f',
    labels: {},
    annotations: {},
    occurrences: 1,
    members: 1,
    membersFiring: 1,
    round: 1,
    cause: null,
    confidence: null,
    verdict: null,
    nextStep: null,
    words: null,
    sourceResolvedAt: null,
    investigator: null,
    costUsd: 0,
    requesters: [],
    channel: null,
    threadTs: null,
    openedAt: at,
    updatedAt: at,
    endedAt: null,
    resolvedBy: null,
    closedBy: null,
    flappingUntil: null,
    asksAgainAt: null,
    mutedBy: null,
    mergedInto: null,
    effort: null,
    detailsDeletedAt: null,
    ...change,
  };
}

/** A record of an incident that was diagnosed with this root cause and these claims. */
export function aRecord(
  incident: Incident,
  rootCause: string,
  claims: readonly string[] = [],
): IncidentRecord {
  const diagnosis: Diagnosis = {
    verdict: 'cause_found',
    rootCause,
    category: incident.incidentType,
    confidence: 0.95,
    evidence: claims.map((claim) => ({ claim, toolCallIds: [], quote: null })),
    ruledOut: [],
    unknown: [],
    wouldChangeMyMind: null,
    blastRadius: null,
    remedy: null,
    runbookId: null,
  };
  return {
    incident,
    alerts: [],
    events: [{ type: 'diagnosis.concluded', round: 1, diagnosis, seq: 1, incidentId: incident.id, at }],
    toolCalls: [],
    actions: [],
    episodes: [],
    denials: [],
  };
}
