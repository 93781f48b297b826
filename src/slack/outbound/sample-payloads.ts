import type { types } from '@slack/bolt';
import type { Action } from '../../core/action.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { IncidentEventBody } from '../../core/event.ts';
import { asActionId, asIncidentId, asToolCallId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { whyThis } from '../../incidents/questions/why-this.ts';
import type { Block } from '../views/blocks/build.ts';
import { draw } from '../views/blocks/draw.ts';
import type { Slot } from '../views/blocks/slot.ts';
import { editView, handOverView, whyThisView } from '../views/card-views.ts';
import { denyView } from '../views/deny.ts';
import { digView } from '../views/dig-deeper.ts';
import { closedHome } from '../views/home.ts';
import { outputView } from '../views/output.ts';
import { diagnosisView, evidenceView, stepsView, whyView } from '../views/record-views.ts';
import { messageOf, type OutgoingMessage } from './message.ts';

/** Something Slack is to show, and what people call it. */
export type SamplePayload = { readonly name: string } & (
  | {
      readonly message: Pick<OutgoingMessage, 'blocks' | 'attachments'>;
      /** Blocks that are sent instead where Slack does not know those. */
      readonly simpler: readonly Block[] | null;
    }
  | { readonly view: types.View }
);

const INCIDENT = asIncidentId('INC-1');
const ACTION = asActionId('act_aaaaaaaaaaaa');
const CALL = asToolCallId('tc_aaaaaaaaaaaa');
const AT = '2026-01-01T10:00:00.000Z';

/** Every kind of message and window of an incident, once of usual length and once with texts longer than any that fit. */
export const samplePayloads = (): readonly SamplePayload[] => [
  ...payloadsWith('', (text) => text),
  ...payloadsWith(', its texts too long', (text) =>
    `${text} <!channel> *x* <https://example.com|x> 漢😀 `.repeat(80),
  ),
];

function payloadsWith(suffix: string, grow: (text: string) => string): readonly SamplePayload[] {
  const whole = recordWith(grow);
  const seen = new Map<string, Slot>();
  // At every point of its course, since a card that is open and one that is decided are two messages.
  for (let length = 1; length <= whole.events.length; length += 1)
    for (const slot of draw(upTo(whole, length), OPTIONS)) seen.set(JSON.stringify(slot), slot);
  const messages = [...seen.values()].map((slot) => {
    const { blocks, attachments } = messageOf(INCIDENT, slot);
    return {
      name: `${nameOf(slot)}${suffix}`,
      message: { blocks, attachments },
      simpler: slot.simpler ?? null,
    };
  });
  const [action] = whole.actions as readonly [Action];
  const [call] = whole.toolCalls as readonly [ToolCall];
  const evidence = diagnosisView(whole, 1, OPTIONS);
  const where = { channel: 'C00000000', threadTs: '1.000001' };
  const card = { ...where, plan: `${ACTION}:${action.planHash}` };
  const windows: readonly (readonly [string, types.View])[] = [
    ['Output', outputView(call, 0)],
    ...(evidence === null ? [] : [['Evidence', evidence] as const]),
    ['Evidence of a proposal', evidenceView(whole, action)],
    ['Steps', stepsView(whole, 1, OPTIONS)],
    ['Why', whyView(grow('pid 4242 held a lock.'))],
    ['Deny', denyView(card, [action])],
    ['Why this', whyThisView(whyThis(whole, action))],
    [
      'Change the plan',
      editView(card, [action], [{ step: 1, fields: [{ name: 'value', value: grow('64MB') }] }]),
    ],
    ['Ask somebody else', handOverView(card, [action])],
    ['Dig deeper', digView({ ...where, incidentId: INCIDENT }, { ok: true, usualUsd: 0.4, atMostUsd: 3 })],
    ['App Home of a guest', closedHome(grow('Sentry is not for guests.'))],
  ];
  return [...messages, ...windows.map(([name, view]) => ({ name: `the window “${name}”${suffix}`, view }))];
}

const OPTIONS = { threadUrl: () => null, approvers: 'everybody on call', mayDig: true, mayReadAgain: true };

const NAMES: Readonly<Record<string, string>> = {
  root: 'the first message of an incident',
  live: 'the progress message',
  action: 'the card of a proposal',
  summary: 'the closing message',
};
const nameOf = ({ slot }: Slot): string => {
  const kind = slot.split(':')[0] ?? slot;
  return NAMES[kind] ?? `a message in the thread (${kind})`;
};

/** The record as it was then: what had happened, and the states that follow from it. */
function upTo(whole: IncidentRecord, length: number): IncidentRecord {
  const events = whole.events.slice(0, length);
  const moved = events.findLast((event) => event.type === 'state.changed');
  const has = (type: IncidentEventBody['type']): boolean => events.some((event) => event.type === type);
  const state = moved?.type === 'state.changed' ? moved.to : 'open';
  const ran = has('action.finished') ? 'succeeded' : has('action.approved') ? 'approved' : 'proposed';
  return {
    ...whole,
    events,
    incident: { ...whole.incident, state, resolvedBy: state === 'resolved' ? 'confirmed' : null },
    actions: has('action.proposed') ? whole.actions.map((action) => ({ ...action, state: ran })) : [],
  };
}

function recordWith(grow: (text: string) => string): IncidentRecord {
  const toolCall: ToolCall = {
    id: CALL,
    incidentId: INCIDENT,
    role: 'detective',
    tool: 'pg_blocking_tree',
    target: 'shop-db',
    input: {},
    state: 'ok',
    output: grow('pid 4242 blocks 4243, 4244'),
    result: {},
    outputSha256: '0'.repeat(64),
    truncated: false,
    code: null,
    startedAt: AT,
    finishedAt: AT,
    actionId: null,
  };
  const bodies: readonly IncidentEventBody[] = [
    { type: 'incident.opened', source: 'alertmanager', title: grow('Sessions are blocked') },
    { type: 'state.changed', from: 'open', to: 'diagnosing', reason: 'an alert' },
    {
      type: 'tool.called',
      toolCallId: CALL,
      role: 'detective',
      tool: 'pg_blocking_tree',
      purpose: grow('who blocks whom'),
      state: 'ok',
      summary: grow('pid 4242 blocks 2 sessions'),
    },
    { type: 'diagnosis.concluded', round: 1, diagnosis: diagnosisWith(grow) },
    { type: 'action.proposed', actionId: ACTION },
    { type: 'state.changed', from: 'planning', to: 'awaiting_approval', reason: 'proposed' },
    {
      type: 'person.called',
      level: 1,
      reason: 'approval_expiry',
      mentions: [],
      names: [grow('somebody')],
      pagers: [],
      problem: null,
    },
    { type: 'action.approved', actionId: ACTION, by: 'U00000000' },
    { type: 'action.finished', actionId: ACTION, outcome: 'succeeded', text: grow('ended') },
    { type: 'state.changed', from: 'remediating', to: 'verifying', reason: 'ran' },
    { type: 'verification.checked', round: 1, holds: true, lines: [grow('no session waits')] },
    {
      type: 'verification.concluded',
      round: 1,
      verdict: 'fixed',
      reason: grow('No session waits any more.'),
    },
    { type: 'state.changed', from: 'verifying', to: 'resolved', reason: 'fixed' },
    { type: 'incident.summary', text: grow('pid 4242 held a lock for 5 minutes and was ended.') },
  ];
  return {
    incident: incidentWith(grow),
    alerts: [],
    events: bodies.map((body, index) => ({ ...body, seq: index + 1, incidentId: INCIDENT, at: AT })),
    toolCalls: [toolCall],
    actions: [actionWith(grow)],
    episodes: [],
    denials: [],
  };
}

const diagnosisWith = (grow: (text: string) => string): Diagnosis => ({
  verdict: 'cause_found',
  rootCause: grow('pid 4242 holds a lock on "orders" and blocks 2 sessions.'),
  category: 'blocked_sessions',
  confidence: 0.95,
  evidence: [{ claim: grow('pid 4242 blocks 2 others'), toolCallIds: [CALL], quote: grow('pid 4242') }],
  ruledOut: [grow('too many connections')],
  unknown: [grow('who started it')],
  wouldChangeMyMind: grow('the sessions going on by themselves'),
  blastRadius: grow('checkout waits'),
  remedy: grow('end pid 4242'),
  runbookId: 'blocked-sessions',
});

const incidentWith = (grow: (text: string) => string): Incident => ({
  id: INCIDENT,
  state: 'open',
  stoppedFrom: null,
  title: grow('Sessions are blocked'),
  alertName: 'PostgresBlockedSessions',
  severity: 'critical',
  domain: 'postgres',
  target: 'shop-db',
  incidentType: 'blocked_sessions',
  routine: true,
  fingerprint: 'sample',
  labels: {},
  annotations: {},
  occurrences: 1,
  members: 1,
  membersFiring: 1,
  round: 1,
  cause: grow('pid 4242 holds a lock.'),
  confidence: 0.95,
  verdict: null,
  nextStep: grow('Approve it, or look yourself.'),
  words: grow('I look at the locks.'),
  sourceResolvedAt: null,
  investigator: 'claude',
  costUsd: 0.04,
  requesters: [],
  channel: null,
  threadTs: null,
  openedAt: AT,
  updatedAt: AT,
  endedAt: null,
  resolvedBy: null,
  closedBy: null,
  asksAgainAt: null,
  flappingUntil: null,
  mutedBy: null,
  mergedInto: null,
  effort: null,
  detailsDeletedAt: null,
});

const actionWith = (grow: (text: string) => string): Action => ({
  id: ACTION,
  planId: ACTION,
  step: 1,
  incidentId: INCIDENT,
  round: 1,
  state: 'proposed',
  tool: 'terminate_backend',
  target: 'shop-db',
  input: {},
  command: grow('SELECT pg_terminate_backend(4242)').slice(0, 2_800),
  planHash: 'a'.repeat(64),
  guard: {},
  why: grow('It holds the lock everybody waits for.'),
  blastRadius: grow('one session; its open transaction is rolled back'),
  preflight: [grow('pid 4242 is idle in transaction since 5 min')],
  undo: grow('cannot be undone'),
  risk: 'medium',
  runbookId: 'blocked-sessions',
  autonomyKey: null,
  verify: { steps: [], holdMs: 0, timeoutMs: 0 },
  expiresAt: AT,
  proposedAt: AT,
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
  verbs: { does: 'End', did: 'Ended', button: 'End the session' },
  denialsAcknowledged: [],
  undoes: null,
  beside: false,
  requestedBy: null,
  purpose: 'repair',
});
