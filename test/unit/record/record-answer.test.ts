import { describe, expect, test } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { Denial } from '../../../src/core/denial.ts';
import { asActionId, asIncidentId } from '../../../src/core/ids.ts';
import type { Line } from '../../../src/incidents/questions/answer-lines.ts';
import { asksForNow } from '../../../src/incidents/questions/asks-for-now.ts';
import { notAnswered } from '../../../src/incidents/questions/not-answered.ts';
import {
  answerFromRecord,
  answerWithSource,
  asksForOpen,
  asksHowItIs,
} from '../../../src/incidents/questions/record-answer.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  CALL,
  eventsOf,
} from '../../support/incident-record.ts';

const around = {
  approvers: 'the group @oncall',
  open: [],
  now: new Date('2026-11-21T10:20:00Z'),
  mayUndo: () => false,
  elsewhere: false,
};
const plain = (lines: readonly Line[] | null): string | null =>
  lines &&
  lines
    .map((line) =>
      line
        .map((piece) =>
          typeof piece === 'string'
            ? piece
            : 'person' in piece
              ? `@${piece.person}`
              : 'at' in piece
                ? piece.at.slice(11, 16)
                : piece.code,
        )
        .join(''),
    )
    .join('\n');

const ended = aRecord({
  incident: anIncident({ state: 'resolved', endedAt: '2026-11-21T10:04:00.000Z', occurrences: 3 }),
  actions: [
    anAction({
      state: 'succeeded',
      approvedBy: ['UOLIVIA'],
      decidedBy: 'UOLIVIA',
      decidedAt: '2026-11-21T10:02:00.000Z',
      startedAt: '2026-11-21T10:02:01.000Z',
      finishedAt: '2026-11-21T10:02:02.000Z',
      outcome: 'The session has ended.',
    }),
  ],
  events: eventsOf(
    { type: 'incident.opened', source: 'alertmanager', title: 'x' },
    { type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis() },
    { type: 'verification.checked', round: 1, holds: true, lines: ['0 sessions wait'] },
    { type: 'state.changed', from: 'verifying', to: 'resolved', reason: 'It has held for 10 s.' },
  ),
});
const waiting = aRecord({
  incident: anIncident({ state: 'awaiting_approval', nextStep: 'Waiting for a decision.' }),
});
const denied = aRecord({
  incident: anIncident({ state: 'reported' }),
  actions: [
    anAction({
      state: 'denied',
      decidedBy: 'UNOAH',
      decidedAt: '2026-11-21T10:03:00.000Z',
      decisionReason: 'I work in it',
    }),
  ],
});
const ask = (record: typeof ended, text: string, changes: object = {}) =>
  plain(answerFromRecord(record, text, { ...around, ...changes }));

describe('the record answers, without a model', () => {
  const approved = 'Approved by @UOLIVIA at 10:02: SELECT pg_terminate_backend(4242)';
  test.each([
    ['who approved this?', approved],
    ['Who approved?', approved],
    ['and who gave permission for that?', approved],
    ['who did this', approved],
    ['who ran the command?', approved],
    ['was it approved', approved],
    ['when was it approved?', approved],
    ['what ran?', 'on shop-db, at 10:02: it ran (The session has ended.).'],
    ['what did you do?', 'on shop-db, at 10:02'],
    ['which commands were executed', 'on shop-db, at 10:02'],
    ['what have you changed on shop-db', 'on shop-db, at 10:02'],
    [
      'why did you terminate that session?',
      'It was proposed because: It holds the lock everybody waits for.',
    ],
    ['why was it run?', 'It was proposed because: It holds the lock everybody waits for.'],
    ['what is it now?', 'Resolved since 10:00: It has held for 10 s.'],
    ['status', 'Resolved since'],
    ['is it over?', 'Resolved since'],
    ['is this fixed yet?', 'Resolved since'],
    ['did it help?', 'Resolved since'],
    ['is shop-db ok?', 'Resolved since'],
    ['how long did it take?', 'Opened at 10:00 (by alertmanager), over at 10:04: 4 min.'],
    ['when did it start?', 'Opened at 10:00'],
    ['when?', 'Opened at 10:00'],
    ['how often have we seen this?', 'The alert fired 3 times in this incident.'],
    ['has this happened before?', 'The alert fired 3 times'],
    ['how many times did it fire?', 'The alert fired 3 times'],
    ['what did it cost?', 'Nothing: no model was used, 1 call of tools.'],
    ['how much did that cost us?', 'Nothing: no model was used'],
    ['why?', 'pid 4242 holds a lock'],
    ['what was the root cause?', 'pid 4242 holds a lock'],
    ['how sure are you?', '(95 % sure)'],
    ['how do you know?', '• pid 4242 blocks 5 others.'],
    ['what is next?', 'Nothing: it is over.'],
    ['was anything denied?', 'Nobody said no.'],
    ['who was asked?', 'Nobody is being asked now.'],
    ['who stopped it?', 'Nobody stopped it.'],
    ['what else is open?', 'Nothing is open that I may tell of here.'],
    ['what happened?', 'pid 4242 holds a lock'],
  ])('%s', (question, says) => {
    const answer = ask(ended, question);
    expect(answer).toContain(says);
    expect(answer?.split('\n').length).toBeLessThanOrEqual(3);
  });

  test.each([
    ['who approved this?', 'Nobody yet (asked: the group @oncall), open until 10:30: SELECT'],
    ['who was asked?', 'Asked: the group @oncall, until 10:30: SELECT'],
    ['what ran?', 'Nothing ran; nothing was changed.\nWaiting for approval: SELECT'],
    ['is it over?', 'It is not over: waiting for approval.'],
    ['what happens next?', 'A decision on SELECT'],
    ['how long has it been open?', 'not over yet: 20 min so far.'],
    ['why do you want to terminate 4242?', 'It has not run. It was proposed because: It holds the lock'],
    ['what was the cause?', 'No cause is known yet'],
  ])('while it waits: %s', (question, says) => {
    expect(ask(waiting, question)).toContain(says);
  });

  test.each([
    ['why was it denied?', 'Denied by @UNOAH at 10:03: “I work in it” (SELECT'],
    ['who said no? who denied it?', 'Denied by @UNOAH'],
    ['who approved this?', 'Denied by @UNOAH'],
    ['what ran?', 'Nothing ran; nothing was changed.'],
  ])('after a denial: %s', (question, says) => {
    expect(ask(denied, question)).toContain(says);
  });

  test('leaves what is not known yet to a model, where there is one', () => {
    const fresh = aRecord({ actions: [] });
    expect(ask(fresh, 'why?', { elsewhere: true })).toBeNull();
    expect(ask(fresh, 'who approved this?', { elsewhere: true })).toContain('Nobody');
    expect(ask(fresh, 'why?')).toContain('No cause is known yet');
    expect(ask(ended, 'why?', { elsewhere: true })).toContain('pid 4242');
  });

  test('names what is open', () => {
    const open = [anIncident({ state: 'awaiting_approval' })];
    expect(ask(ended, 'what is open?', { open })).toBe(
      'Open: INC-7 shop-db: sessions are blocked (waiting for approval).',
    );
    expect(asksForOpen('which incidents are open?')).toBe(true);
    expect(asksForOpen('checkout is open but slow')).toBe(false);
  });
});

test.each([
  'what about replication?',
  'how many sessions are blocked right now?',
  'how much memory is free?',
  'is the disk full now?',
  'who blocks whom?',
  'why is checkout slow?',
  'write a post-mortem',
  'which query holds the lock?',
  'can you restart shop-worker?',
  'should we add an index on orders?',
  'what is the meaning of life?',
  'who wrote the migration that was approved yesterday?',
])('the record holds nothing to “%s”', (question) => {
  expect(ask(ended, question)).toBeNull();
});

describe('of a plan of several steps the record answers', () => {
  const steps = (first: Action['state'], second: Action['state']) => [
    anAction({
      state: first,
      command: 'patch app/worker.conf',
      ...(first === 'proposed'
        ? {}
        : {
            decidedBy: 'UOLIVIA',
            approvedBy: ['UOLIVIA'],
            decidedAt: '2026-11-21T10:02:00.000Z',
            startedAt: '2026-11-21T10:02:01.000Z',
          }),
    }),
    anAction({
      id: asActionId('act_bbbbbbbbbbbb'),
      planId: ACTION,
      step: 2,
      state: second,
      command: 'restart service shop-worker',
      toolCallId: CALL,
      ...(second === 'queued' || second === 'skipped' ? {} : { startedAt: '2026-11-21T10:02:04.000Z' }),
      ...(second === 'failed' ? { outcome: 'no such unit' } : {}),
    }),
  ];
  const both = 'on shop-db: 1 patch app/worker.conf, 2 restart service shop-worker';

  test.each([
    ['succeeded', 'succeeded', '✓ 1 patch app/worker.conf ran; ✓ 2 restart service shop-worker ran.'],
    [
      'succeeded',
      'failed',
      '✓ 1 patch app/worker.conf ran; ✗ 2 restart service shop-worker failed (no such unit).',
    ],
    ['succeeded', 'unknown', '? 2 restart service shop-worker unknown whether it ran.'],
    ['succeeded', 'started', '… 2 restart service shop-worker running.'],
    ['unknown', 'queued', '? 1 patch app/worker.conf unknown whether it ran; · 2'],
  ] as const)('what ran, step by step, in one line: %s, %s', (first, second, says) => {
    const answer = ask(aRecord({ actions: steps(first, second) }), 'what ran?');
    expect(answer).toContain('2 steps on shop-db, at 10:02: ');
    expect(answer).toContain(says);
    expect(answer?.split('\n')).toHaveLength(1);
  });

  test('who approved it, once and for all of it', () => {
    const answer = ask(aRecord({ actions: steps('succeeded', 'succeeded') }), 'who approved this?');
    expect(answer).toBe(`Approved by @UOLIVIA at 10:02: 2 steps ${both}.`);
  });

  test('what waits for approval, with all of its steps', () => {
    const record = aRecord({ actions: steps('proposed', 'queued') });
    expect(ask(record, 'what ran?')).toContain(`Waiting for approval: 2 steps ${both}.`);
    expect(ask(record, 'what is next?')).toContain(`A decision on 2 steps ${both}`);
    expect(ask(record, 'who was asked?')).toContain(both);
  });
});

describe('a question for this very moment', () => {
  const symptom = new Set(['sessions', 'lock', 'checkout', 'shop-db']);
  test.each([
    'how many are blocked now?',
    'how many sessions are blocked right now?',
    'is it still down?',
    'is shop-db up?',
    'are checkouts still slow?',
    'how many locks are there?',
    'still blocked?',
  ])('is “%s”', (text) => {
    expect(asksForNow(text, symptom)).toBe(true);
  });

  test.each([
    'was it down?',
    'when did sessions block?',
    'why is it slow?',
    'who is it?',
    'how many replicas are there?',
    'is the disk full now?',
    'what about replication?',
    'what is it?',
  ])('is not “%s”', (text) => {
    expect(asksForNow(text, symptom)).toBe(false);
  });
});

describe('what is not known is not called none', () => {
  const recalled = (rest: object) =>
    aRecord({
      events: eventsOf({
        type: 'memory.recalled',
        when: 'start',
        incidents: [],
        runbooks: [],
        worked: [],
        failed: [],
        missing: null,
        ...rest,
      }),
    });
  const before = (record: ReturnType<typeof aRecord>) =>
    plain(answerFromRecord(record, 'was it seen before?', around));

  test('of memory that did not answer, was not asked, or may not tell', () => {
    expect(before(recalled({}))).toContain('I remember no incident like it.');
    expect(before(recalled({ missing: 'Memory could not be asked: it is away' }))).toContain(
      'is not known: Memory could not be asked: it is away.',
    );
    expect(before(recalled({ heldBack: 'may_not' }))).toContain('that I may tell of here');
    expect(before(aRecord({ events: [] }))).toContain('has not been looked up');
  });

  test('of a model that cost nothing', () => {
    const record = aRecord({
      events: eventsOf({
        type: 'investigator.chosen',
        investigator: 'claude',
        why: 'a key is set',
        model: 'm',
      }),
    });
    expect(plain(answerFromRecord(record, 'what did it cost?', around))).toContain('$0.0000 for the model');
  });
});

describe('why something was not done', () => {
  const planned = {
    record: aRecord({ incident: anIncident({ state: 'awaiting_approval' }) }),
    says: 'SELECT pg_terminate_backend(4242)',
  };
  const refusedCall = (tool: string, output: string) =>
    aRecord({
      actions: [],
      toolCalls: [
        { ...aRecord({}).toolCalls[0]!, role: 'surgeon', tool, state: 'refused', output, input: {} },
      ],
      events: eventsOf({ type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis() }),
    });

  test.each(['why not restart?', 'Why didn’t you restart it?', 'why terminate instead of a restart?'])(
    '%s gets what was proposed in its place, and that no reason against it is on record',
    (text) => {
      const said = ask(planned.record, text);
      expect(said).toContain('no reason against it is on record');
      expect(said).toContain(planned.says);
      expect(said).not.toMatch(/^It was proposed because/);
    },
  );

  test('tells why it was refused', () => {
    const record = refusedCall('restart_service', 'At most 1 restart of shop-worker in 10 minutes.');
    expect(ask(record, 'why not restart?')).toContain('It was refused: At most 1 restart of shop-worker');
    expect(ask(record, 'why not vacuum?')).not.toContain('refused: At most');
  });

  test('tells who denied it, where it was asked for and denied', () => {
    expect(ask(denied, 'why not terminate it?')).toContain('Denied by @UNOAH');
    expect(ask(denied, 'why did you not terminate that backend?')).toContain('“I work in it”');
    expect(ask(denied, 'why not restart the worker?')).toContain('no reason against it');
  });

  test('says that it was done, where it was', () => {
    expect(ask(ended, 'why not terminate the session?')).toContain('It was done: ');
  });

  test('leaves what the record gives no reason for to who can be asked', () => {
    expect(ask(planned.record, 'why not restart?', { elsewhere: true })).toBeNull();
    expect(ask(denied, 'why not terminate it?', { elsewhere: true })).toContain('Denied by');
  });

  test('is not asked by who asks why it is not over or why nobody approved', () => {
    expect(ask(ended, 'why was it not approved?')).not.toContain('on record');
    expect(ask(waiting, 'why is it not fixed yet?')).not.toContain('no reason against');
  });
});

test.each(['did it help?', 'did that work', 'is it over?'])(
  '“%s” is worth a look at the live system',
  (text) => {
    expect(asksHowItIs(ended, text)).toBe(true);
  },
);

describe('what became of a question is told apart', () => {
  const outcome = (record: typeof ended, text: string) =>
    (answerWithSource(record, text, around) ?? notAnswered(record, text, null)).outcome;

  test.each([
    ['who approved this?', 'answered'],
    ['did anyone say no?', 'none'],
    ['who undid it?', 'none'],
    ['what can you do?', 'answered'],
    ['did users notice?', 'not_on_record'],
    ['will it happen again?', 'not_on_record'],
    ['does the flurb grok?', 'not_understood'],
    // The record holds it, and this way to ask is not read: not on record would be false.
    ['is the run the one who approved the cause?', 'not_understood'],
    ['who took back the no?', 'not_understood'],
  ])('%s: %s', (question, is) => {
    expect(outcome(ended, question)).toBe(is);
  });

  test('what is not understood is never said not to be on record, and says which word it is', () => {
    const said = plain(notAnswered(ended, 'does the flurb grok?', null).lines);
    expect(said).toContain('“flurb”');
    expect(said).not.toContain('on record');
  });
});

describe('taking back is told as it can be', () => {
  const setting = { ...ended.actions[0]!, undo: 'sets it back to what it was' };
  const undo = (changes: Partial<Action>): Action =>
    anAction({
      id: asActionId('act_cccccccccccc'),
      command: 'RESET it',
      undoes: setting.id,
      beside: true,
      requestedBy: 'UNOAH',
      proposedAt: '2026-11-21T10:12:00.000Z',
      ...changes,
    });
  const record = (...undos: readonly Action[]) => ({ ...ended, actions: [setting, ...undos] });
  const can = { mayUndo: () => true };

  test('with the button and by whom, where there is a way', () => {
    expect(ask(record(), 'can I roll this back?', can)).toContain(
      'Yes, with “Undo” on its card, by whoever may approve it',
    );
    expect(ask(record(), 'can I roll this back?')).toContain('I have no way to take this back');
  });

  test('by who asked for it and when, where it was; and not as done where it failed, waits or was denied', () => {
    const done = undo({ state: 'succeeded', startedAt: '2026-11-21T10:12:01.000Z' });
    expect(ask(record(done), 'who undid it?')).toContain('Taken back by @UNOAH at 10:12: RESET it');
    expect(ask(record(done), 'can it be undone?', can)).toContain('Taken back by @UNOAH');
    const failed = undo({ state: 'failed', startedAt: '2026-11-21T10:12:01.000Z', outcome: 'It had moved.' });
    expect(ask(record(failed), 'was it reverted?')).toContain('that failed: It had moved.');
    expect(ask(record(undo({ state: 'proposed' })), 'was it reverted?')).toContain(
      'It is being taken back by @UNOAH',
    );
    expect(ask(record(undo({ state: 'denied' })), 'was it reverted?')).toContain('and was not');
  });

  test('of a plan with the steps that have a way back', () => {
    const second = { ...setting, id: asActionId('act_eeeeeeeeeeee'), step: 2 };
    const answer = ask(record(second), 'can we undo it?', { mayUndo: ({ step }: Action) => step === 2 });
    expect(answer).toContain('(step 2)');
  });

  test('not of a step that failed, may have run or runs', () => {
    for (const state of ['failed', 'unknown', 'started'] as const)
      expect(ask({ ...ended, actions: [{ ...setting, state }] }, 'can we undo it?', can)).not.toContain(
        'Yes',
      );
    const failed = { ...setting, id: asActionId('act_eeeeeeeeeeee'), step: 2, state: 'failed' as const };
    expect(ask(record(failed), 'can we undo it?', can)).toMatch(/^Yes, .*\(step 1\)/);
  });

  test('of a plan with how each step stands, not as taken back while one is not', () => {
    const second = { ...setting, id: asActionId('act_eeeeeeeeeeee'), step: 2 };
    const last = undo({ state: 'succeeded', undoes: second.id, finishedAt: '2026-11-21T10:12:02.000Z' });
    const first = undo({
      id: asActionId('act_dddddddddddd'),
      planId: last.planId,
      step: 2,
      state: 'failed',
      toolCallId: CALL,
      finishedAt: '2026-11-21T10:13:00.000Z',
    });
    for (const question of ['who undid it?', 'can it be undone?']) {
      const answer = ask(record(second, last, first), question, can);
      expect(answer).toMatch(
        /^Only step 2 of 2 is undone: the undo of step 1 failed, asked for by @UNOAH at 10:13: /,
      );
      expect(answer).not.toMatch(/Taken back|Yes/);
    }
  });

  test.each(['is it fixed?', 'did it help?', 'how does it stand?'])(
    'first, where it was what had fixed it: %s',
    (question) => {
      const done = undo({ state: 'succeeded', purpose: 'undo', finishedAt: '2026-11-21T10:12:02.000Z' });
      const confirmed = {
        ...record(done),
        incident: { ...ended.incident, resolvedBy: 'confirmed' as const },
      };
      expect(ask(confirmed, question)).toMatch(/^It was fixed, then undone by @UNOAH at 10:12\.\n/);
      expect(ask({ ...confirmed, actions: [setting] }, question)).not.toContain('undone');
      expect(ask(record(done), question)).toMatch(/^What was done: undone by @UNOAH at 10:12\.\n/);
    },
  );
});

describe('a No that was overridden', () => {
  const no = (incidentId: string): Denial => ({
    id: 'dn_1',
    incidentId: asIncidentId(incidentId),
    actionId: asActionId('act_dddddddddddd'),
    scope: 'object',
    kind: 'session',
    label: 'session 4242',
    saidBy: 'UAMARA',
    saidAt: '2026-11-21T09:30:00.000Z',
    reason: 'it is the backup',
    until: null,
    channel: null,
    takenBackBy: null,
    takenBackAt: null,
  });
  const over = (incidentId: string) => ({
    ...ended,
    actions: [{ ...ended.actions[0]!, denialsAcknowledged: ['dn_1'] }],
    denials: [no(incidentId)],
  });

  test('is told, with its reason only where it was said here', () => {
    expect(ask(over('INC-3'), 'was anything denied?')).toBe(
      '@UAMARA had said no at 09:30 in another incident.',
    );
    expect(ask(over('INC-7'), 'was anything denied?')).toBe(
      '@UAMARA had said no at 09:30: “it is the backup”.',
    );
    expect(answerWithSource(over('INC-3'), 'was anything denied?', around)?.outcome).toBe('answered');
    expect(ask({ ...ended, denials: [no('INC-3')] }, 'was anything denied?')).toBe('Nobody said no.');
  });
});
