import type { Action } from '../../src/core/action.ts';
import type { IncidentEventBody } from '../../src/core/event.ts';
import { asActionId, asIncidentId } from '../../src/core/ids.ts';
import type { Incident, IncidentState } from '../../src/core/incident.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  CALL,
  eventsOf,
  wholeIncident,
} from './incident-record.ts';

/** A whole incident by what happened in it; the rows follow from the events. */
export interface Recorded {
  readonly name: string;
  readonly events: readonly IncidentEventBody[];
  readonly incident?: Partial<Incident>;
  readonly actions?: readonly Action[];
}

const SECOND = asActionId('act_bbbbbbbbbbbb');
const THIRD = asActionId('act_cccccccccccc');
const at = wholeIncident.findIndex(({ type }) => type === 'action.proposed');
const proposed = wholeIncident.slice(0, at + 2);
const investigated = wholeIncident.slice(0, at - 1);
const to = (from: IncidentState, next: IncidentState, reason = 'so'): IncidentEventBody => ({
  type: 'state.changed',
  from,
  to: next,
  reason,
});
const look = (purpose: string, summary: string): IncidentEventBody => ({
  type: 'tool.called',
  toolCallId: CALL,
  role: 'detective',
  tool: 'pg_blocking_tree',
  purpose,
  state: 'ok',
  summary,
});
const call = (reason: 'unsolved' | 'approval_expiry' | 'unacknowledged', level = 1): IncidentEventBody => ({
  type: 'person.called',
  level,
  reason,
  mentions: ['S0ONCALL'],
  names: [],
  pagers: ['pagerduty'],
  problem: null,
});
/** With all that a real one has: what it is called, what it touches, and how it is told that it helped. */
const repair = (changes: Partial<Action> = {}): Action =>
  anAction({
    tool: 'postgres_terminate_backend',
    objects: [{ kind: 'session', key: '4242', label: 'pid 4242' }],
    verify: {
      steps: [
        {
          tool: 'pg_blocking_tree',
          input: {},
          measure: { name: 'waiting' },
          says: 'no session waits for a lock',
        },
      ],
      holdMs: 60_000,
      timeoutMs: 300_000,
    } as unknown as Action['verify'],
    ...changes,
  });
const second = repair({
  id: SECOND,
  planId: SECOND,
  input: { pid: 4711 },
  command: "SELECT pg_terminate_backend(4711) -- started '2026-11-21 10:00:00'",
  why: 'It holds the other lock.',
});
const LONG =
  'A lock on the table of orders is held by a session that does nothing, and everybody waits for it. '.repeat(
    40,
  );
const toTheEnd = wholeIncident.slice(at + 2);
const stepId = (step: number) =>
  step === 1 ? ACTION : asActionId(`act_${String.fromCharCode(96 + step).repeat(12)}`);
/** A plan of so many steps, of which each does something else. */
const planOf = (steps: number, changes: Partial<Action> = {}): readonly Action[] =>
  Array.from({ length: steps }, (_, n) =>
    repair({
      id: stepId(n + 1),
      planId: ACTION,
      step: n + 1,
      state: n === 0 ? 'proposed' : 'queued',
      input: { pid: 4242 + n },
      command: `SELECT pg_terminate_backend(${4242 + n}) -- started '2026-11-21 10:00:00'`,
      objects: [{ kind: 'session', key: `${4242 + n}`, label: `pid ${4242 + n}` }],
      ...changes,
    }),
  );
const ranSteps = (steps: number): readonly IncidentEventBody[] =>
  Array.from({ length: steps }, (_, n): readonly IncidentEventBody[] => [
    { type: 'action.started', actionId: stepId(n + 1) },
    {
      type: 'action.finished',
      actionId: stepId(n + 1),
      outcome: 'succeeded',
      text: 'pg_terminate_backend: true',
    },
  ]).flat();
const planned = (steps: number): readonly IncidentEventBody[] => [
  ...proposed,
  { type: 'action.approved', actionId: ACTION, by: 'U0ONCALL' },
  to('awaiting_approval', 'remediating'),
  ...ranSteps(steps),
  ...toTheEnd.slice(4),
];
/** Names as long as systems allow, without a space to break at. */
const NAME = 'payments-reconciliation-worker-of-the-europe-west-region-blue-'.repeat(4);
const bySecond: readonly IncidentEventBody[] = [
  ...proposed,
  { type: 'action.seconded', actionId: ACTION, by: 'U0ONCALL', count: 1, needed: 2 },
  { ...toTheEnd[0], by: 'U0BEN' } as IncidentEventBody,
  ...toTheEnd.slice(1),
];
const UNDO = asActionId('act_dddddddddddd');

export const recordedIncidents: readonly Recorded[] = [
  { name: 'one repair, approved and fixed', events: wholeIncident },
  {
    name: 'denied, and another way that is fixed',
    actions: [repair(), second],
    events: [
      ...proposed,
      {
        type: 'action.denied',
        actionId: ACTION,
        by: 'U0ONCALL',
        reason: 'not that one, it is the backup',
        anotherWay: true,
      },
      to('awaiting_approval', 'planning'),
      { type: 'action.proposed', actionId: SECOND },
      to('planning', 'awaiting_approval'),
      ...toTheEnd.map((event) => ('actionId' in event ? { ...event, actionId: SECOND } : event)),
    ] as readonly IncidentEventBody[],
  },
  {
    name: 'denied, and no other way',
    events: [
      ...proposed,
      { type: 'action.denied', actionId: ACTION, by: 'U0ONCALL', reason: 'no', anotherWay: true },
      to('awaiting_approval', 'planning'),
      { type: 'plan.none', reason: 'Nothing else that is safe would end it.' },
      to('planning', 'escalated'),
      { type: 'incident.escalated', reason: 'Nothing else that is safe would end it.' },
      call('unsolved'),
    ],
  },
  {
    name: 'a second plan after a failed verification',
    actions: [repair(), { ...second, round: 2 }],
    events: [
      ...wholeIncident.slice(0, -3),
      { type: 'verification.concluded', round: 1, verdict: 'not_fixed', reason: '4 sessions still wait.' },
      to('verifying', 'diagnosing'),
      look('who holds the lock now', 'pid 4711 blocks 4 sessions'),
      {
        type: 'diagnosis.concluded',
        round: 2,
        diagnosis: aDiagnosis({ rootCause: 'pid 4711 holds a second lock on "orders".' }),
      },
      to('diagnosing', 'planning'),
      { type: 'action.proposed', actionId: SECOND },
      to('planning', 'awaiting_approval'),
      { type: 'action.approved', actionId: SECOND, by: 'U0ONCALL' },
      to('awaiting_approval', 'remediating'),
      { type: 'action.started', actionId: SECOND },
      { type: 'action.finished', actionId: SECOND, outcome: 'succeeded', text: 'pg_terminate_backend: true' },
      to('remediating', 'verifying'),
      { type: 'verification.checked', round: 2, holds: true, lines: ['no session waits for a lock'] },
      { type: 'verification.concluded', round: 2, verdict: 'fixed', reason: 'No session waits any more.' },
      to('verifying', 'resolved'),
      { type: 'incident.summary', text: 'Two sessions held locks; both were ended.' },
    ],
  },
  {
    name: 'escalated, with calls and a page that fails',
    actions: [],
    events: [
      ...investigated,
      { type: 'plan.none', reason: 'The rules allow no change of this system.' },
      to('diagnosing', 'escalated'),
      { type: 'incident.escalated', reason: 'A person has to take over: nothing that is allowed ends it.' },
      call('unsolved'),
      { type: 'page.failed', level: 1, pager: 'pagerduty', reason: 'HTTP 503' },
      call('unacknowledged', 2),
      { type: 'incident.acknowledged', by: 'U0ONCALL', how: 'taken' },
    ],
  },
  {
    name: 'a proposal that expires',
    events: [
      ...proposed,
      call('approval_expiry'),
      { type: 'action.expired', actionId: ACTION },
      to('awaiting_approval', 'escalated'),
      { type: 'incident.escalated', reason: 'Nobody decided within 30 minutes.' },
      call('unsolved'),
    ],
  },
  {
    name: 'ended by its source while a proposal waits',
    events: [
      ...proposed,
      { type: 'alert.resolved', source: 'alertmanager' },
      { type: 'action.void', actionId: ACTION, reason: 'The alert is over.' },
      to('awaiting_approval', 'resolved', 'its source says it is over'),
    ],
  },
  {
    name: 'closed by a person while a proposal waits',
    events: [
      ...proposed,
      { type: 'incident.closed', by: 'U0ONCALL', reason: 'fixed by hand', severity: 'critical' },
      to('awaiting_approval', 'resolved', 'A person says it is over.'),
      { type: 'action.void', actionId: ACTION, reason: 'The incident was closed before it ran.' },
    ],
  },
  {
    name: 'closed while it is looked into, and fired again',
    actions: [],
    events: [
      ...investigated.slice(0, -2),
      { type: 'incident.closed', by: 'U0ONCALL', reason: '', severity: 'critical' },
      to('diagnosing', 'resolved', 'A person says it is over.'),
      { type: 'alert.repeated', source: 'alertmanager', occurrences: 2, again: true },
      to('resolved', 'diagnosing', 'it fires again'),
    ],
  },
  {
    name: 'over before anything was proposed',
    actions: [],
    events: [
      ...investigated,
      to('diagnosing', 'reported'),
      { type: 'alert.resolved', source: 'alertmanager' },
      { type: 'incident.summary', text: 'Over, says Alertmanager.' },
      to('reported', 'resolved', 'its source says it is over'),
    ],
  },
  {
    name: 'fires on while a limit holds the fix back',
    actions: [],
    incident: { asksAgainAt: '2026-11-21T10:20:00Z' },
    events: [
      ...investigated,
      {
        type: 'plan.none',
        reason: 'Only 1 restart in 10 min.',
        asksAgainAt: '2026-11-21T10:20:00Z',
        severity: 'critical',
      },
      to('planning', 'reported'),
      { type: 'alert.repeated', source: 'alertmanager', occurrences: 2 },
      { type: 'alert.repeated', source: 'alertmanager', occurrences: 3 },
    ],
  },
  {
    name: 'fires on while people have it, given to somebody',
    actions: [],
    events: [
      ...investigated,
      to('diagnosing', 'reported'),
      { type: 'incident.acknowledged', by: 'U0BEN', how: 'taken', assignedBy: 'U0ONCALL' },
      { type: 'alert.repeated', source: 'alertmanager', occurrences: 2 },
      to('reported', 'escalated'),
      { type: 'incident.escalated', reason: 'Nobody was able to end it.' },
      { type: 'alert.repeated', source: 'alertmanager', occurrences: 3 },
    ],
  },
  {
    name: 'fixed, and fired again',
    actions: [repair(), { ...second, round: 2 }],
    events: [
      ...wholeIncident,
      { type: 'alert.repeated', source: 'alertmanager', occurrences: 2, again: true },
      to('resolved', 'diagnosing', 'it fires again'),
      look('who blocks whom', 'pid 4711 blocks 2 sessions'),
      {
        type: 'diagnosis.concluded',
        round: 2,
        diagnosis: aDiagnosis({ rootCause: 'pid 4711 holds a lock on "orders".' }),
      },
      to('diagnosing', 'planning'),
      { type: 'action.proposed', actionId: SECOND },
      to('planning', 'awaiting_approval'),
      { type: 'alert.resolved', source: 'alertmanager' },
      { type: 'action.void', actionId: SECOND, reason: 'The alert is over.' },
      to('awaiting_approval', 'resolved', 'its source says it is over'),
    ],
  },
  {
    name: 'a plan of three steps, of which the second fails',
    actions: [ACTION, SECOND, THIRD].map((id, index) =>
      anAction({
        ...second,
        id,
        planId: ACTION,
        step: index + 1,
        state: index === 0 ? 'proposed' : 'queued',
      }),
    ),
    events: [
      ...proposed,
      { type: 'action.approved', actionId: ACTION, by: 'U0ONCALL' },
      to('awaiting_approval', 'remediating'),
      { type: 'action.started', actionId: ACTION },
      { type: 'action.finished', actionId: ACTION, outcome: 'succeeded', text: 'pg_terminate_backend: true' },
      { type: 'action.started', actionId: SECOND },
      { type: 'action.finished', actionId: SECOND, outcome: 'failed', text: 'the session is gone' },
      to('remediating', 'escalated'),
      { type: 'incident.escalated', reason: 'The second of three steps failed.' },
      call('unsolved'),
    ],
  },
  {
    name: 'a model with many and long words',
    incident: { words: LONG, investigator: 'claude', title: LONG.slice(0, 200) },
    actions: [repair({ why: LONG, blastRadius: LONG, undo: LONG, preflight: [LONG, LONG] })],
    events: wholeIncident.flatMap((event): readonly IncidentEventBody[] => {
      if (event.type === 'tool.called')
        return Array.from({ length: 30 }, (_, n) => ({ ...event, purpose: `${n} ${LONG}`, summary: LONG }));
      if (event.type === 'diagnosis.concluded')
        return [
          {
            ...event,
            diagnosis: aDiagnosis({
              rootCause: LONG,
              evidence: Array.from({ length: 8 }, () => ({
                claim: LONG,
                toolCallIds: [CALL],
                quote: 'pid 4242',
              })),
              ruledOut: [LONG, LONG, LONG],
              unknown: [LONG],
              blastRadius: LONG,
              remedy: LONG,
              wouldChangeMyMind: LONG,
            }),
          },
        ];
      if (event.type === 'verification.checked') return [{ ...event, lines: [LONG, LONG] }];
      if (event.type === 'verification.concluded') return [{ ...event, reason: LONG }];
      if (event.type === 'action.finished') return [{ ...event, text: LONG }];
      return event.type === 'incident.summary' ? [{ ...event, text: LONG }] : [event];
    }),
  },
  {
    name: 'a hint, and another cause',
    actions: [repair(), { ...second, round: 2 }],
    events: [
      ...proposed,
      { type: 'hint.given', by: 'U0ONCALL', text: 'It is the nightly export.' },
      { type: 'action.void', actionId: ACTION, reason: 'Somebody gave a hint.' },
      to('awaiting_approval', 'diagnosing', 'a hint'),
      look('what the export does', 'pid 4711 runs COPY since 10:00'),
      {
        type: 'diagnosis.concluded',
        round: 2,
        diagnosis: aDiagnosis({
          rootCause: 'The nightly export, pid 4711, holds the lock.',
          category: 'long_query',
        }),
      },
      to('diagnosing', 'planning'),
      { type: 'action.proposed', actionId: SECOND },
      to('planning', 'awaiting_approval'),
    ],
  },
  {
    name: 'the kill switch while a proposal waits',
    events: [
      ...proposed,
      { type: 'switch.set', scope: 'all', by: 'U0ADMIN', reason: 'a change freeze', until: null },
      { type: 'incident.stopped', by: 'U0ADMIN', reason: 'a change freeze', severity: 'critical' },
      to('awaiting_approval', 'stopped', 'stopped'),
      { type: 'switch.cleared', scope: 'all', by: 'U0ADMIN', reason: 'over' },
      { type: 'incident.resumed', by: 'U0ADMIN' },
      to('stopped', 'awaiting_approval', 'resumed'),
    ],
  },
  {
    name: 'part of another',
    incident: { mergedInto: asIncidentId('INC-3') },
    actions: [],
    events: [
      ...wholeIncident.slice(0, 7),
      { type: 'incident.merged', into: asIncidentId('INC-3'), because: { kind: 'person', by: 'U0ONCALL' } },
    ],
  },
  {
    name: 'a high risk that two people decide',
    actions: [repair({ risk: 'high', approvalsNeeded: 2 })],
    events: bySecond,
  },
  { name: 'a plan of four steps', actions: planOf(4), events: planned(4) },
  // More than may be proposed: what is drawn of it holds all the same.
  {
    name: 'a plan of twelve steps',
    actions: planOf(12, { risk: 'high', approvalsNeeded: 2 }),
    events: planned(12),
  },
  {
    name: 'names as long as they get, and two people who decide',
    incident: { title: `${NAME} is down`, target: NAME.slice(0, 120) },
    actions: [
      repair({
        risk: 'high',
        approvalsNeeded: 2,
        target: NAME.slice(0, 120),
        command: `kubectl delete pod -n ${NAME} ${NAME}`,
        objects: [{ kind: 'pod', key: NAME, label: NAME }],
        blastRadius: `${NAME} is away; ${NAME} waits for it.`,
        undo: `Start ${NAME} again.`,
      }),
    ],
    events: bySecond,
  },
  {
    name: 'fixed, and the fix undone',
    actions: [
      repair(),
      repair({
        id: UNDO,
        undoes: ACTION,
        beside: true,
        purpose: 'undo',
        requestedBy: 'U0ONCALL',
        why: 'It was needed.',
      }),
    ],
    events: [
      ...wholeIncident,
      { type: 'action.proposed', actionId: UNDO },
      { type: 'action.approved', actionId: UNDO, by: 'U0ONCALL' },
      { type: 'action.started', actionId: UNDO },
      { type: 'action.finished', actionId: UNDO, outcome: 'succeeded', text: 'put back' },
    ],
  },
  {
    name: 'muted, and looked into once the mute ends',
    events: [
      ...wholeIncident.slice(0, 1),
      {
        type: 'incident.muted',
        mute: 'M3',
        by: 'U0ONCALL',
        matcher: 'alertname="PostgresBlockedSessions"',
        reason: 'deploying',
        until: '2026-11-21T12:00:00.000Z',
      },
      { type: 'alert.repeated', source: 'alertmanager', occurrences: 2 },
      { type: 'incident.unmuted', mute: 'M3' },
      ...wholeIncident.slice(1),
    ],
  },
  {
    name: 'of no target',
    incident: { target: null },
    actions: [],
    events: [
      ...investigated.filter(({ type }) => type !== 'tool.called' && type !== 'diagnosis.concluded'),
      {
        type: 'diagnosis.concluded',
        round: 1,
        diagnosis: aDiagnosis({
          verdict: 'cannot_tell',
          rootCause: 'No system that I can read is named.',
          evidence: [],
        }),
      },
      to('diagnosing', 'reported'),
    ],
  },
];

/** How an incident goes on from its proposal, each with its name: every recorded alert is told by one of them. */
export const ways = recordedIncidents.filter(({ name }) => !name.startsWith('a model with many'));

const endsOf = {
  'action.denied': 'denied',
  'action.expired': 'expired',
  'action.void': 'void',
  'action.started': 'started',
} as const;

/** The record as it was after so many of its events. */
export function recordAt(
  { events: all, incident, actions = [repair()] }: Recorded,
  length: number,
): IncidentRecord {
  const events = eventsOf(...all.slice(0, length));
  let row = anIncident({ ...incident, state: 'open', cause: null, confidence: null, mergedInto: null });
  const known = new Map<string, Action>();
  for (const event of events) {
    row = { ...row, updatedAt: event.at };
    if (event.type === 'incident.closed') row = { ...row, closedBy: event.by };
    if (event.type === 'state.changed') row = moved(row, event);
    if (event.type === 'diagnosis.concluded') {
      const { rootCause: cause, confidence } = event.diagnosis;
      row = { ...row, cause, confidence, round: event.round };
    }
    if (event.type === 'verification.concluded') row = { ...row, verdict: event.verdict };
    if (event.type === 'plan.none' || event.type === 'incident.escalated')
      row = { ...row, nextStep: event.reason };
    if (event.type === 'incident.muted') row = { ...row, mutedBy: event.mute };
    if (event.type === 'incident.unmuted') row = { ...row, mutedBy: null };
    if (event.type === 'incident.merged') row = { ...row, mergedInto: event.into, nextStep: null };
    if (event.type === 'alert.repeated') row = { ...row, occurrences: event.occurrences };
    if (event.type === 'alert.resolved') row = { ...row, sourceResolvedAt: event.at };
    if (event.type === 'action.proposed')
      for (const action of actions.filter(({ planId }) => planId === event.actionId))
        known.set(action.id, action);
    const action = 'actionId' in event ? known.get(event.actionId) : undefined;
    if (action) known.set(action.id, acted(action, event as never));
  }
  const isWorking = isInvestigating(row.state);
  return aRecord({
    incident: { ...row, words: isWorking ? row.words : null },
    events,
    actions: [...known.values()],
    toolCalls: events.some(({ type }) => type === 'tool.called') ? aRecord().toolCalls : [],
  });
}

const isInvestigating = (state: IncidentState): boolean =>
  ['open', 'triaging', 'diagnosing', 'planning'].includes(state);

function moved(
  row: Incident,
  { from, to: state, at: when }: { from: IncidentState; to: IncidentState; at: string },
): Incident {
  const over = state === 'resolved';
  const confirmed = row.verdict === 'fixed' && from === 'verifying';
  return {
    ...row,
    state,
    stoppedFrom: state === 'stopped' ? from : null,
    endedAt: over ? when : null,
    resolvedBy: over ? (confirmed ? 'confirmed' : row.closedBy === null ? 'source' : 'person') : null,
    closedBy: over ? row.closedBy : null,
    nextStep: NEXT[state] ?? null,
  };
}

/** What the product writes there when it comes to that. */
const NEXT: Partial<Record<IncidentState, string>> = {
  awaiting_approval: 'Waiting for somebody to approve the fix.',
  remediating: 'Running the approved fix.',
  verifying: 'Checking on the live system whether it helped.',
};

function acted(
  action: Action,
  event: Extract<IncidentEventBody, { readonly actionId: string }> & { at: string },
): Action {
  if (event.type === 'action.finished')
    return { ...action, state: event.outcome, outcome: event.text, finishedAt: event.at };
  if (event.type === 'action.seconded') return { ...action, approvedBy: [...action.approvedBy, event.by] };
  if (event.type === 'action.approved')
    return {
      ...action,
      state: 'approved',
      approvedBy: [...action.approvedBy, event.by],
      decidedBy: event.by,
      decidedAt: event.at,
    };
  if (!(event.type in endsOf)) return action;
  const state = endsOf[event.type as keyof typeof endsOf];
  const by = 'by' in event ? { decidedBy: event.by, decidedAt: event.at } : {};
  const reason = 'reason' in event ? { decisionReason: event.reason, outcome: event.reason } : {};
  return { ...action, state, ...by, ...reason, ...(state === 'started' ? { startedAt: event.at } : {}) };
}
