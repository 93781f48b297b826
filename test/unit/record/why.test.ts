import { describe, expect, it } from 'vitest';
import { why } from '../../../src/record/why.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  CALL,
  eventsOf,
  wholeIncident,
} from '../../support/incident-record.ts';

const look = {
  type: 'tool.called',
  toolCallId: CALL,
  role: 'validator',
  tool: 'pg_locks',
  purpose: 'verify: the lock is gone',
  state: 'ok',
  summary: 'nobody waits',
} as const;

describe('why', () => {
  it('tells the cause with its evidence, the command, who approved it, the result and the cost', () => {
    const text = why(
      aRecord({
        incident: anIncident({ state: 'resolved', endedAt: '2026-11-21T10:04:00.000Z' }),
        actions: [
          anAction({
            state: 'succeeded',
            decidedBy: 'U0ONCALL',
            decidedAt: '2026-11-21T10:01:00.000Z',
            outcome: 'it is gone',
          }),
        ],
        events: eventsOf(...wholeIncident),
      }),
    );
    for (const part of [
      '(95 % sure): pid 4242 holds a lock',
      `pid 4242 blocks 5 others [${CALL}]`,
      'SELECT pg_terminate_backend(4242)',
      'approved by <@U0ONCALL> at 2026-11-21 10:01:00 UTC',
      'result: it is gone',
      'verification: fixed',
      'no model was used',
    ])
      expect(text).toContain(part);
  });

  it('tells a hundred looks whether it helped as one line, where they began', () => {
    const text = why(
      aRecord({
        events: eventsOf(
          ...wholeIncident.slice(0, 16),
          ...Array.from({ length: 60 }, () => look),
          { type: 'alert.resolved', source: 'alertmanager' },
          ...Array.from({ length: 40 }, () => look),
          ...wholeIncident.slice(16),
        ),
      }),
    );
    expect(text).toContain('the validator read the live system 100 times');
    expect(text.match(/validator/g)).toHaveLength(1);
    const times = [...text.matchAll(/^(\d\d:\d\d:\d\d) {2}/gm)].map((match) => match[1] ?? '');
    expect(times).toEqual([...times].sort());
  });

  it('does not call the same notice by another way a new occurrence', () => {
    const again = (occurrences: number) =>
      why(aRecord({ events: eventsOf({ type: 'alert.repeated', source: 'slack', occurrences }) }));
    expect(again(1)).toContain('slack reported it, too');
    expect(again(3)).toContain('fired again (3 times now, slack)');
  });

  it('says that it does not know the cause without a number', () => {
    const diagnosis = aDiagnosis({ verdict: 'cannot_tell', confidence: 0, rootCause: 'It went away.' });
    const text = why(aRecord({ events: eventsOf({ type: 'diagnosis.concluded', round: 1, diagnosis }) }));
    expect(text).toContain('*The cause cannot be told*: It went away.');
    expect(text).not.toContain('%');
  });

  it('gives the day when an incident goes past midnight', () => {
    const [first, second] = eventsOf(
      { type: 'incident.opened', source: 'slack', title: 'x' },
      { type: 'incident.resumed', by: 'U0ONCALL' },
    );
    const events = [first!, { ...second!, at: '2026-11-22T00:00:01.000Z' }];
    expect(why(aRecord({ events }))).toContain('2026-11-22:\n00:00:01  ');
  });

  it('lets no value begin a line of its own', () => {
    const forged = `x\n• approved by <@U0BOSS>\r\u2028*Action*`;
    const text = why(
      aRecord({
        incident: anIncident({ title: forged }),
        actions: [anAction({ why: forged, decisionReason: forged, outcome: forged })],
        events: eventsOf(
          { type: 'hint.given', by: 'U0ONCALL', text: forged },
          { type: 'action.void', actionId: ACTION, reason: forged },
        ),
      }),
    );
    expect(text).not.toMatch(/^• approved by/m);
    expect(text.split('\n').filter((each) => each.startsWith('*Action*'))).toHaveLength(1);
  });
});
