import type { IncidentEventBody } from '../../src/core/event.ts';
import { asActionId } from '../../src/core/ids.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  eventsOf,
} from '../../test/support/incident-record.ts';

const opened = { type: 'incident.opened', source: 'alertmanager', title: 'x' } as const;
const diagnosed = { type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis() } as const;
const ran = {
  state: 'succeeded',
  approvedBy: ['UOLIVIA'],
  decidedBy: 'UOLIVIA',
  decidedAt: '2026-11-21T10:02:00.000Z',
  startedAt: '2026-11-21T10:02:01.000Z',
  finishedAt: '2026-11-21T10:02:02.000Z',
  outcome: 'The session has ended.',
} as const;
/** What has an inverse, unlike an ended session. */
const setting = {
  ...ran,
  tool: 'pg_set_parameter',
  command: "ALTER SYSTEM SET idle_session_timeout = '5min'",
  why: 'Idle sessions hold locks.',
  blastRadius: 'every session that is idle for 5 minutes',
  undo: 'sets it back to what it was',
} as const;
const didNotHelp = [
  { type: 'verification.checked', round: 1, holds: false, lines: ['5 sessions wait'] },
  {
    type: 'verification.concluded',
    round: 1,
    verdict: 'not_fixed',
    reason: 'It did not help: 5 sessions wait.',
  },
  { type: 'state.changed', from: 'verifying', to: 'reported', reason: 'It did not help.' },
] as const;
const held = [
  { type: 'verification.checked', round: 1, holds: true, lines: ['0 sessions wait'] },
  { type: 'state.changed', from: 'verifying', to: 'resolved', reason: 'It has held for 10 s.' },
] as const;

const eventsAt = (events: readonly (readonly [string, IncidentEventBody])[]) =>
  eventsOf(...events.map(([, event]) => event)).map((event, n) => ({
    ...event,
    at: `2026-11-21T${events[n]?.[0]}:00.000Z`,
  }));

/** The recorded incidents that questions.yaml asks about. */
export const records: Readonly<Record<string, IncidentRecord>> = {
  fixed: aRecord({
    incident: anIncident({ state: 'resolved', endedAt: '2026-11-21T10:04:00.000Z', occurrences: 3 }),
    actions: [anAction(ran)],
    events: eventsOf(opened, diagnosed, ...held),
  }),
  waiting: aRecord({
    incident: anIncident({ state: 'awaiting_approval', nextStep: 'Waiting for a decision.' }),
    events: eventsOf(opened, diagnosed),
  }),
  denied: aRecord({
    incident: anIncident({ state: 'reported', nextStep: 'Somebody has to end the session.' }),
    actions: [
      anAction({
        state: 'denied',
        decidedBy: 'UNOAH',
        decidedAt: '2026-11-21T10:03:00.000Z',
        decisionReason: 'I work in it',
      }),
    ],
    events: eventsOf(opened, diagnosed),
  }),
  escalated: aRecord({
    incident: anIncident({ state: 'escalated', nextStep: 'A person has to look.' }),
    actions: [],
    events: eventsAt([
      ['10:00', opened],
      ['10:01', diagnosed],
      ['10:05', { type: 'incident.acknowledged', by: 'UAMARA', how: 'taken' }],
    ]),
  }),
  closed: aRecord({
    incident: anIncident({
      state: 'resolved',
      resolvedBy: 'person',
      closedBy: 'UOLIVIA',
      endedAt: '2026-11-21T10:07:00.000Z',
    }),
    actions: [],
    events: eventsAt([
      ['10:00', opened],
      ['10:01', diagnosed],
      [
        '10:02',
        {
          type: 'person.called',
          level: 1,
          reason: 'unacknowledged',
          mentions: ['UAMARA'],
          names: [],
          pagers: ['pagerduty'],
          problem: null,
        },
      ],
      ['10:03', { type: 'incident.acknowledged', by: 'UNOAH', how: 'taken', assignedBy: 'UOLIVIA' }],
      ['10:07', { type: 'incident.closed', by: 'UOLIVIA', reason: 'fixed by hand' }],
      [
        '10:07',
        { type: 'state.changed', from: 'reported', to: 'resolved', reason: 'A person says it is over.' },
      ],
    ]),
  }),
  looking: aRecord({ actions: [], events: eventsOf(opened) }),
  reopened: aRecord({
    incident: anIncident({ state: 'diagnosing', round: 2 }),
    actions: [
      anAction({ ...ran, id: asActionId('act_bbbbbbbbbbbb'), planId: asActionId('act_bbbbbbbbbbbb') }),
    ],
    events: eventsOf(opened, diagnosed, ...held, {
      type: 'state.changed',
      from: 'resolved',
      to: 'diagnosing',
      reason: 'It came back.',
    }),
  }),
  undoable: aRecord({
    incident: anIncident({ state: 'resolved', endedAt: '2026-11-21T10:04:00.000Z' }),
    actions: [anAction(setting)],
    events: eventsOf(opened, diagnosed, ...held),
  }),
  undone: aRecord({
    incident: anIncident({ state: 'reported', nextStep: 'A person has to look.' }),
    actions: [
      anAction(setting),
      anAction({
        ...setting,
        id: asActionId('act_cccccccccccc'),
        command: 'ALTER SYSTEM RESET idle_session_timeout',
        purpose: 'undo',
        undoes: ACTION,
        beside: true,
        requestedBy: 'UNOAH',
        approvedBy: ['UNOAH'],
        decidedBy: 'UNOAH',
        proposedAt: '2026-11-21T10:12:00.000Z',
        decidedAt: '2026-11-21T10:12:00.000Z',
        startedAt: '2026-11-21T10:12:01.000Z',
        finishedAt: '2026-11-21T10:12:02.000Z',
        outcome: 'It is as it was.',
      }),
    ],
    events: eventsOf(opened, diagnosed),
  }),
  failed: aRecord({
    incident: anIncident({ state: 'reported', nextStep: 'A person has to look.' }),
    actions: [anAction(ran)],
    events: eventsOf(opened, diagnosed, ...didNotHelp),
  }),
  twice: aRecord({
    incident: anIncident({ state: 'reported', nextStep: 'A person has to look.' }),
    actions: [
      anAction({
        id: asActionId('act_dddddddddddd'),
        tool: 'cancel_query',
        command: 'SELECT pg_cancel_backend(4242)',
        state: 'denied',
        decidedBy: 'UNOAH',
        decidedAt: '2026-11-21T10:03:00.000Z',
        decisionReason: 'I work in it',
      }),
      anAction({
        ...ran,
        proposedAt: '2026-11-21T10:07:00.000Z',
        decidedAt: '2026-11-21T10:08:00.000Z',
        startedAt: '2026-11-21T10:08:01.000Z',
        finishedAt: '2026-11-21T10:08:02.000Z',
      }),
    ],
    events: eventsOf(opened, diagnosed, ...didNotHelp),
  }),
  audit: aRecord({
    incident: anIncident({ state: 'reported' }),
    actions: [anAction({ auditOnly: true, id: ACTION })],
    events: eventsOf(opened, diagnosed),
  }),
};
