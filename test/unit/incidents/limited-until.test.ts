import { describe, expect, it } from 'vitest';
import { ofStep } from '../../../src/actions/proposals/plan-of-steps.ts';
import { refuse } from '../../../src/core/errors.ts';
import type { ToolCall } from '../../../src/core/tool-call.ts';
import { limitMet } from '../../../src/incidents/limited-until.ts';
import { aRecord, aToolCall, CALL, eventsOf } from '../../support/incident-record.ts';

const planningWith = (call: Partial<ToolCall>) =>
  aRecord({
    events: eventsOf(
      { type: 'state.changed', from: 'diagnosing', to: 'planning', reason: 'The cause is found.' },
      {
        type: 'tool.called',
        toolCallId: CALL,
        role: 'surgeon',
        tool: 'restart_service',
        state: 'refused',
        summary: '',
        purpose: null,
      },
    ),
    toolCalls: [aToolCall({ id: CALL, role: 'surgeon', state: 'refused', ...call })],
  });
const wait = { until: '2026-11-22T17:07:44.000Z', limit: 'At most 1 restart of shop-worker in 10 minutes.' };

describe('what keeps the gate from proposing, and not for ever', () => {
  it('is a limit, also of a later step of a plan', () => {
    const refusal = ofStep(1, 2, 'restart service shop-worker', {
      ...refuse('RATE_LIMITED', wait.limit),
      wait,
    });
    expect(refusal).toMatchObject({ code: 'RATE_LIMITED', wait });
    expect(refusal.reason).toMatch(/^Step 2 of 2, restart service shop-worker: At most/);
    expect(limitMet(planningWith({ code: 'RATE_LIMITED', result: wait }))).toEqual(wait);
  });

  it('is a target that did not answer, which is asked again a little later', () => {
    for (const code of ['TIMEOUT', 'POSTGRES_ECONNREFUSED']) {
      const met = limitMet(planningWith({ code, target: 'shop-db' }));
      expect(met?.limit).toBe('shop-db did not answer.');
      expect(Number.isNaN(Date.parse(met?.until ?? ''))).toBe(false);
    }
  });

  it('is no refusal that stays one', () => {
    for (const code of ['TRIED_ALREADY', 'STOPPED', 'POSTGRES_42501', 'NOT_NAMED'])
      expect(limitMet(planningWith({ code })), code).toBeNull();
  });
});
