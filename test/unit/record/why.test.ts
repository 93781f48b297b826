import { describe, expect, it } from 'vitest';
import { asActionId } from '../../../src/core/ids.ts';
import { why } from '../../../src/incidents/questions/why.ts';
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

describe('why, of a plan of several steps', () => {
  const second = asActionId('act_bbbbbbbbbbbb');
  const third = asActionId('act_cccccccccccc');
  const steps = [
    anAction({
      state: 'succeeded',
      decidedBy: 'U0ONCALL',
      decidedAt: '2026-11-21T10:01:00.000Z',
      command: 'patch app/worker.conf',
      outcome: 'It is what was approved.',
      toolCallId: CALL,
    }),
    anAction({
      id: second,
      planId: ACTION,
      step: 2,
      state: 'failed',
      command: 'restart service shop-worker',
      why: 'Nothing starts it.',
      outcome: 'It did not start.',
      toolCallId: CALL,
    }),
    anAction({
      id: third,
      planId: ACTION,
      step: 3,
      state: 'skipped',
      command: 'VACUUM "public"."orders"',
      outcome: 'Not run: step 2, restart_service, failed.',
    }),
  ];
  const text = why(
    aRecord({
      actions: steps,
      events: eventsOf(
        { type: 'action.proposed', actionId: ACTION },
        { type: 'action.started', actionId: ACTION },
        { type: 'action.finished', actionId: ACTION, outcome: 'succeeded', text: 'done' },
        { type: 'action.started', actionId: second },
        { type: 'action.finished', actionId: second, outcome: 'failed', text: 'It did not start.' },
      ),
    }),
  );

  it('tells one decision, and each step with what became of it', () => {
    expect(text.match(/approved by <@U0ONCALL>/g)).toHaveLength(1);
    for (const part of [
      `*Plan* ${ACTION} on shop-db, 3 steps`,
      '✓ step 1, ran: `patch app/worker.conf`',
      '✗ step 2, failed: `restart service shop-worker`',
      'why: Nothing starts it.',
      `result: It did not start. [${CALL}]`,
      '– step 3, not run: the step before failed: `VACUUM "public"."orders"`',
    ])
      expect(text).toContain(part);
    // What became of the plan is told by its steps alone.
    expect(text).not.toMatch(/approved by .*succeeded/);
  });

  it('names the step in each line of the story', () => {
    for (const part of [
      `proposed ${ACTION}, a plan of 3 steps`,
      `running step 1 of 3 of ${ACTION}`,
      'step 1 of 3 succeeded: done',
      `running step 2 of 3 of ${ACTION}`,
      'step 2 of 3 failed: It did not start.',
    ])
      expect(text).toContain(part);
  });
});
