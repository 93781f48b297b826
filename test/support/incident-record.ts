import type { Action, Verbs } from '../../src/core/action.ts';
import type { Diagnosis } from '../../src/core/diagnosis.ts';
import type { IncidentEvent, IncidentEventBody } from '../../src/core/event.ts';
import { asActionId, asIncidentId, asToolCallId } from '../../src/core/ids.ts';
import type { Incident } from '../../src/core/incident.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import type { ToolCall } from '../../src/core/tool-call.ts';
import { allTools } from '../../src/targets/all-tools.ts';

export const INCIDENT = asIncidentId('INC-7');
export const ACTION = asActionId('act_aaaaaaaaaaaa');
export const CALL = asToolCallId('tc_aaaaaaaaaaaa');
const T0 = '2026-11-21T10:00:00.000Z';
const at = (seconds: number): string => new Date(Date.parse(T0) + seconds * 1000).toISOString();

export function anIncident(changes: Partial<Incident> = {}): Incident {
  return {
    id: INCIDENT,
    state: 'diagnosing',
    stoppedFrom: null,
    title: 'shop-db: sessions are blocked',
    alertName: 'PostgresBlockedSessions',
    severity: 'critical',
    domain: 'postgres',
    target: 'shop-db',
    incidentType: 'blocked_sessions',
    routine: true,
    fingerprint: 'f00d',
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
    investigator: 'playbook',
    costUsd: 0,
    requesters: [],
    channel: null,
    threadTs: null,
    openedAt: T0,
    updatedAt: T0,
    endedAt: null,
    resolvedBy: null,
    closedBy: null,
    asksAgainAt: null,
    flappingUntil: null,
    mutedBy: null,
    mergedInto: null,
    effort: null,
    detailsDeletedAt: null,
    ...changes,
  };
}

export function aDiagnosis(changes: Partial<Diagnosis> = {}): Diagnosis {
  return {
    verdict: 'cause_found',
    rootCause: 'pid 4242 holds a lock on "orders" since 10:00 and blocks 5 sessions.',
    category: 'blocked_sessions',
    confidence: 0.95,
    evidence: [{ claim: 'pid 4242 blocks 5 others', toolCallIds: [CALL], quote: 'pid 4242' }],
    ruledOut: ['connection exhaustion'],
    unknown: [],
    wouldChangeMyMind: 'the blocked sessions going on by themselves',
    blastRadius: 'checkout is waiting',
    remedy: 'end pid 4242',
    runbookId: 'blocked-sessions',
    ...changes,
  };
}

/** What the product's own tool of that name says it does. */
function verbsOf(tool: string | undefined): Verbs | null {
  const found = allTools.find(({ name }) => name === tool);
  return found?.kind === 'active' ? found.verbs : null;
}

export function anAction(changes: Partial<Action> = {}): Action {
  return {
    id: ACTION,
    planId: changes.id ?? ACTION,
    step: 1,
    incidentId: INCIDENT,
    round: 1,
    state: 'proposed',
    tool: 'terminate_backend',
    target: 'shop-db',
    input: { pid: 4242 },
    command: "SELECT pg_terminate_backend(4242) -- started '2026-11-21 10:00:00'",
    planHash: 'a'.repeat(64),
    guard: {},
    why: 'It holds the lock everybody waits for.',
    blastRadius: 'one session; its open transaction is rolled back',
    preflight: ['pid 4242 is idle in transaction since 5 min'],
    undo: 'cannot be undone',
    risk: 'medium',
    runbookId: 'blocked-sessions',
    autonomyKey: null,
    verify: { steps: [], holdMs: 0, timeoutMs: 0 },
    expiresAt: at(1800),
    proposedAt: at(10),
    approvalsNeeded: 1,
    approvedBy: [],
    policyRule: null,
    autonomousAt: null,
    decidedBy: null,
    decidedAt: null,
    decisionReason: null,
    startedAt: null,
    finishedAt: null,
    outcome: null,
    toolCallId: null,
    auditOnly: false,
    heldBy: null,
    identity: null,
    objects: [],
    verbs: verbsOf(changes.tool),
    denialsAcknowledged: [],
    undoes: null,
    beside: false,
    requestedBy: null,
    purpose: 'repair',
    ...changes,
  };
}

export function aToolCall(changes: Partial<ToolCall> = {}): ToolCall {
  return {
    id: CALL,
    incidentId: INCIDENT,
    role: 'detective',
    tool: 'pg_blocking_tree',
    target: 'shop-db',
    input: {},
    state: 'ok',
    output: 'pid 4242 blocks 4243, 4244',
    result: {},
    outputSha256: '0'.repeat(64),
    truncated: false,
    code: null,
    startedAt: at(2),
    finishedAt: at(3),
    actionId: null,
    ...changes,
  };
}

/** Events numbered from 1, a second apart. */
export function eventsOf(...bodies: readonly IncidentEventBody[]): readonly IncidentEvent[] {
  return bodies.map((body, index) => ({ ...body, seq: index + 1, incidentId: INCIDENT, at: at(index + 1) }));
}

export function aRecord(changes: Partial<IncidentRecord> = {}): IncidentRecord {
  return {
    incident: anIncident(),
    alerts: [],
    events: [],
    toolCalls: [aToolCall()],
    actions: [anAction()],
    episodes: [],
    denials: [],
    ...changes,
  };
}

/** A whole incident, from the alert to the verified fix. */
export const wholeIncident: readonly IncidentEventBody[] = [
  { type: 'incident.opened', source: 'alertmanager', title: 'shop-db: sessions are blocked' },
  { type: 'state.changed', from: 'open', to: 'triaging', reason: 'an alert' },
  { type: 'investigator.chosen', investigator: 'playbook', why: 'there is no model key' },
  {
    type: 'memory.recalled',
    when: 'start',
    incidents: [{ incidentId: asIncidentId('INC-3'), title: 'shop-db: blocked', distance: 0.1 }],
    runbooks: ['blocked-sessions'],
    worked: ['SELECT pg_terminate_backend(17)'],
    failed: [],
    missing: null,
  },
  {
    type: 'triage.concluded',
    triage: {
      severity: 'critical',
      incidentType: 'blocked_sessions',
      routine: true,
      ignore: false,
      reason: 'sessions wait for locks',
    },
  },
  { type: 'state.changed', from: 'triaging', to: 'diagnosing', reason: 'worth a look' },
  {
    type: 'tool.called',
    toolCallId: CALL,
    role: 'detective',
    tool: 'pg_blocking_tree',
    purpose: 'who blocks whom',
    state: 'ok',
    summary: 'pid 4242 blocks 2 sessions',
  },
  { type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis() },
  { type: 'state.changed', from: 'diagnosing', to: 'planning', reason: 'sure enough' },
  { type: 'action.proposed', actionId: ACTION },
  { type: 'state.changed', from: 'planning', to: 'awaiting_approval', reason: 'proposed' },
  { type: 'action.approved', actionId: ACTION, by: 'U0ONCALL' },
  { type: 'state.changed', from: 'awaiting_approval', to: 'remediating', reason: 'approved' },
  { type: 'action.started', actionId: ACTION },
  { type: 'action.finished', actionId: ACTION, outcome: 'succeeded', text: 'pg_terminate_backend: true' },
  { type: 'state.changed', from: 'remediating', to: 'verifying', reason: 'ran' },
  { type: 'verification.checked', round: 1, holds: true, lines: ['no session waits for a lock'] },
  { type: 'verification.concluded', round: 1, verdict: 'fixed', reason: 'No session waits any more.' },
  { type: 'state.changed', from: 'verifying', to: 'resolved', reason: 'fixed' },
  { type: 'incident.summary', text: 'pid 4242 held a lock for 5 minutes and was terminated.' },
];
