import { describe, expect, it } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asToolCallId } from '../../../src/core/ids.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { diagnosisView } from '../../../src/slack/views/record-views.ts';
import { aDiagnosis, anIncident, aRecord, aToolCall, eventsOf } from '../../support/incident-record.ts';

const [first, second] = [asToolCallId('tc_aaaaaaaaaaaa'), asToolCallId('tc_bbbbbbbbbbbb')];
const called = (toolCallId: typeof first, state: 'ok' | 'failed'): IncidentEventBody => ({
  type: 'tool.called',
  toolCallId,
  role: 'detective',
  tool: 'postgres_locks',
  purpose: toolCallId === second ? 'Reading again' : 'First look',
  state,
  summary: '',
});
const finished = (readable: boolean): IncidentEventBody => ({
  type: 'read.finished',
  by: 'U0ONCALL',
  of: first,
  toolCallId: second,
  tool: 'postgres_locks',
  readable,
  reason: readable ? '' : 'permission denied',
});
const toTheReport: readonly IncidentEventBody[] = [
  { type: 'incident.opened', source: 'test', title: 'blocked' },
  { type: 'state.changed', from: 'triaging', to: 'diagnosing', reason: '' },
  called(first, 'failed'),
  {
    type: 'diagnosis.concluded',
    round: 1,
    diagnosis: aDiagnosis({
      verdict: 'cannot_tell',
      unread: [{ toolCallId: first, way: 'grant', reason: 'permission denied' }],
    }),
  },
  { type: 'state.changed', from: 'diagnosing', to: 'reported', reason: '' },
  {
    type: 'read.asked',
    by: 'U0ONCALL',
    toolCallId: first,
    readHash: '',
    tool: 'postgres_locks',
    way: 'grant',
  },
];

function drawn(events: readonly IncidentEventBody[], state: 'reported' | 'diagnosing') {
  const no = {
    state: 'failed',
    code: 'POSTGRES_42501',
    tool: 'postgres_locks',
    output: 'permission denied',
  } as const;
  const record = aRecord({
    incident: anIncident({ state }),
    events: eventsOf(...toTheReport, ...events),
    toolCalls: [aToolCall({ ...no, id: first }), aToolCall({ ...no, id: second })],
    actions: [],
  });
  const slots = draw(record, { threadUrl: () => null, approvers: null, mayReadAgain: true });
  const live = slots.filter(({ slot }) => slot.startsWith('live:')).map(({ blocks }) => blocks);
  return {
    live: JSON.stringify(live),
    evidence: JSON.stringify(diagnosisView(record, 1, { mayReadAgain: true })),
  };
}

describe('a read that was made again', () => {
  it('begins the round that it caused, in the one progress message', () => {
    const { live, evidence } = drawn(
      [
        called(second, 'ok'),
        finished(true),
        { type: 'state.changed', from: 'reported', to: 'diagnosing', reason: '' },
      ],
      'diagnosing',
    );
    expect(live).not.toContain('First look');
    expect(live).toMatch(/Reading again.*Read again for.*can be read now/);
    expect(live).not.toContain('sentry_grant');
    expect(evidence).not.toContain('sentry_grant');
  });

  it('in vain is said where it was asked for, with the button of the new try', () => {
    const { live, evidence } = drawn([called(second, 'failed'), finished(false)], 'reported');
    for (const text of [live, evidence]) {
      expect(text).toMatch(/sentry_grant.*ried again for.*U0ONCALL/);
      expect(text).toContain(`:${second}:`);
      expect(text).not.toContain(`:${first}:`);
    }
  });

  it('and not made yet has no button but who asked', () => {
    for (const text of Object.values(drawn([], 'reported'))) {
      expect(text).toMatch(/Being read again.*U0ONCALL/);
      expect(text).not.toContain('sentry_grant');
    }
  });
});
