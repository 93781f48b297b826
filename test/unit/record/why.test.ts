import { describe, expect, it } from 'vitest';
import { terminalStory } from '../../../src/cli/terminal-story.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { markedWhy, why } from '../../../src/incidents/questions/why.ts';
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
      'pid 4242 blocks 5 others',
      'SELECT pg_terminate_backend(4242)',
      'approved by <@U0ONCALL> at 2026-11-21T10:01:00Z',
      'result: it is gone',
      'verification: fixed',
      'no model was used',
    ])
      expect(text).toContain(part);
  });

  it('has no id in it, but for the model, which cites tool calls by theirs', () => {
    const record = aRecord({
      actions: [anAction({ state: 'succeeded', toolCallId: CALL, outcome: 'it is gone' })],
      events: eventsOf(...wholeIncident),
    });
    expect(why(record)).not.toMatch(/\b(?:tc|act)_/);
    expect(why(record, { cites: true })).toContain(`pid 4242 blocks 5 others [${CALL}]`);
  });

  it('tells a read by what it was for, in quotes where a model says it', () => {
    const read = (investigator: 'playbook' | 'claude') =>
      why(
        aRecord({
          events: eventsOf(
            { type: 'investigator.chosen', investigator, why: 'x' },
            { ...look, role: 'detective', purpose: 'Looking who blocks whom …' },
          ),
        }),
      );
    expect(read('playbook')).toContain('Z  looking who blocks whom: nobody waits');
    expect(read('claude')).toContain('Z  “Looking who blocks whom …”: nobody waits');
  });

  it('claims no cause where the why is not known', () => {
    const diagnosis = aDiagnosis({ rootCause: 'It does not run.', unexplained: 'why it stopped' });
    const text = why(aRecord({ events: eventsOf({ type: 'diagnosis.concluded', round: 1, diagnosis }) }));
    expect(text).toContain('*What is wrong is clear; why is not*: It does not run.');
    expect(text).toContain('• not known: why it stopped');
    expect(text).not.toContain('*Cause*');
  });

  it('is plain in a terminal: no markup, and times of its zone', () => {
    const events = eventsOf({ type: 'incident.resumed', by: 'U0ONCALL' });
    const story = markedWhy(aRecord({ events }));
    const text = terminalStory(story, new Map([['U0ONCALL', 'olivia']]), 'Asia/Kolkata');
    expect(text).toContain('\n15:30:01  olivia resumed it');
    expect(terminalStory(story)).toContain('  somebody in Slack resumed it');
    expect(text).toContain('opened 2026-11-21 15:30:00.');
    expect(text).not.toMatch(/[*`<]|Z /);
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
    expect(text).toContain('looked 100 times whether it helped');
    expect(text.match(/whether it helped/g)).toHaveLength(1);
    const times = [...text.matchAll(/^(\S+Z) {2}/gm)].map((match) => match[1] ?? '');
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
    expect(why(aRecord({ events }))).toContain(
      '2026-11-22T00:00:01Z:\n2026-11-22T00:00:01Z  <@U0ONCALL> resumed it',
    );
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
      '*Plan* on shop-db, 3 steps',
      '✓ step 1, ran: `patch app/worker.conf`',
      '✗ step 2, failed: `restart service shop-worker`',
      'why: Nothing starts it.',
      'result: It did not start.',
      '– step 3, not run: the step before failed: `VACUUM "public"."orders"`',
    ])
      expect(text).toContain(part);
    // What became of the plan is told by its steps alone.
    expect(text).not.toMatch(/approved by .*succeeded/);
  });

  it('names the step in each line of the story', () => {
    for (const part of [
      'proposed to run patch app/worker.conf, and 2 more steps',
      'began to run patch app/worker.conf (step 1 of 3)',
      'step 1 of 3 succeeded: done',
      'began to run restart service shop-worker (step 2 of 3)',
      'step 2 of 3 failed: It did not start.',
    ])
      expect(text).toContain(part);
  });
});
