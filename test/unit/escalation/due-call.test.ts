import { describe, expect, it } from 'vitest';
import { type Due, dueCall, type Facts } from '../../../src/escalation/due-call.ts';
import { type Ladder, mentionOnly } from '../../../src/escalation/ladder.ts';

const MINUTE = 60_000;
/** Midnight of a Monday, UTC. */
const at = (minutes: number): Date => new Date(Date.UTC(2026, 10, 23) + minutes * MINUTE);

const oncall = [{ kind: 'group', name: 'oncall' }] as const;
const ladder: Ladder = {
  levels: [
    { afterMs: 5 * MINUTE, mention: oncall, page: [] },
    { afterMs: 15 * MINUTE, mention: oncall, page: ['pd'] },
  ],
  reasons: ['unsolved', 'unacknowledged', 'approval_expiry', 'failed_verification'],
  unacknowledgedMs: 0,
  approvalExpiryMs: 5 * MINUTE,
  quietHours: [],
};

const facts = (changes: Partial<Facts> = {}): Facts => ({
  state: 'diagnosing',
  severity: 'error',
  needsNobody: false,
  wasThere: false,
  run: { seq: 0, at: at(0) },
  asksAgain: false,
  isDone: false,
  moved: null,
  failed: null,
  proposal: null,
  acknowledged: null,
  releasedAt: null,
  made: [],
  undelivered: new Map(),
  hurried: 0,
  silence: null,
  ...changes,
});

const reported = (minutes: number): Partial<Facts> => ({
  state: 'reported',
  moved: { seq: 9, at: at(minutes), from: 'diagnosing' },
});
const silenced: Partial<Facts> = {
  ...reported(20),
  isDone: true,
  acknowledged: { at: at(15), holds: false },
  silence: { id: 'A1', until: at(80) },
};
const call = (level: number, minutes: number, key = `level:${level}`) => ({ key, level, at: at(minutes) });

/** `1 unsolved`, `1 unsolved page`, `look 15`, `quiet until 420`, `-`. */
function inShort({ call: due, lookAt, quietUntil }: Due): string {
  const minutes = (date: Date): number => Math.round((date.getTime() - at(0).getTime()) / MINUTE);
  if (due) return `${due.level} ${due.reason}${due.pages ? ' page' : ''}`;
  if (quietUntil) return `quiet until ${minutes(quietUntil)}`;
  return lookAt ? `look ${minutes(lookAt)}` : '-';
}

const nights = { days: [0, 1, 2, 3, 4, 5, 6], from: 22 * 60, to: 7 * 60, timezone: 'UTC' };
const atNight: Ladder = { ...ladder, quietHours: [{ ...nights, severities: ['error', 'warning'] }] };
const never: Ladder = {
  ...ladder,
  quietHours: [{ days: [0, 1, 2, 3, 4, 5, 6], from: 0, to: 24 * 60, timezone: 'UTC', severities: ['error'] }],
};
const only = mentionOnly(() => oncall);

describe('which call is due', () => {
  it.each<[string, Partial<Facts>, number, string, Ladder?]>([
    ['nobody has it for five minutes', {}, 5, '1 unacknowledged'],
    ['not yet', {}, 4, 'look 5'],
    ['it is over', { state: 'resolved', made: [call(1, 5)] }, 60, '-'],
    ['it is ignored', { state: 'ignored' }, 60, '-'],
    ['a person has stopped it', { state: 'stopped' }, 60, '-'],
    ['it needs nobody', { ...reported(0), needsNobody: true }, 60, '-'],
    ['somebody has it', { acknowledged: { at: at(2), holds: true } }, 60, '-'],
    ['somebody did something with it', { acknowledged: { at: at(2), holds: false } }, 60, '-'],
    [
      'it is unsolved since somebody did something',
      { ...reported(20), acknowledged: { at: at(2), holds: false } },
      25,
      '1 unsolved',
    ],
    [
      'what was done since answers it',
      { ...reported(20), acknowledged: { at: at(21), holds: false } },
      60,
      '-',
    ],
    ['nobody answers: the next level', { made: [call(1, 5)] }, 15, '2 unacknowledged page'],
    ['not before its time', { made: [call(1, 5)] }, 14, 'look 15'],
    ['the first call came late, and so does the next', { made: [call(1, 50)] }, 52, 'look 60'],
    ['the last level is called', { made: [call(1, 5), call(2, 15)] }, 600, '-'],
    [
      'the page of a level does not arrive',
      { made: [call(1, 5)], undelivered: new Map([[1, at(7)]]) },
      7,
      '2 unacknowledged page',
    ],
    ['it changed since the call: those are told', { ...reported(12), made: [call(1, 5)] }, 12, '1 unsolved'],
    ['they are told once', { ...reported(12), made: [call(1, 5), call(1, 12, 'state:9')] }, 13, 'look 15'],
    [
      'a fix did not work',
      {
        state: 'diagnosing',
        failed: { seq: 8, at: at(20), from: 'verifying' },
        made: [call(1, 5), call(2, 15)],
      },
      20,
      '2 failed_verification',
    ],
    [
      'a fix did not work, and it is given up: one change, one call',
      {
        state: 'escalated',
        failed: { seq: 8, at: at(20), from: 'verifying' },
        moved: { seq: 8, at: at(20), from: 'verifying' },
        made: [call(1, 5), call(2, 15), call(2, 20, 'state:8')],
      },
      21,
      '-',
    ],
    [
      'Sentry comes back by itself',
      { ...reported(1), asksAgain: true, acknowledged: { at: at(0), holds: false } },
      60,
      '-',
    ],
    ['what was asked for is done', { ...reported(1), isDone: true }, 60, '-'],
    ['a person asked for quiet until later', silenced, 60, 'look 85'],
    ['that quiet is over, and what is wrong still is', silenced, 85, '1 unsolved'],
    [
      'what was said as information has got worse, and its level is called: the next has its time',
      {
        ...reported(1),
        severity: 'critical',
        made: [{ ...call(1, 6), key: 'informs:level:1:1:0' }, call(1, 30)],
      },
      31,
      'look 40',
    ],
    ['nobody is called for what only informs', { severity: 'info' }, 60, '-'],
    [
      'but it is said that it is unsolved, without a page',
      { ...reported(1), severity: 'info' },
      6,
      '1 unsolved',
    ],
    [
      'and is said once',
      { ...reported(1), severity: 'info', made: [{ ...call(1, 6), key: 'informs:level:1:1:0' }] },
      60,
      '-',
    ],
    [
      'what was said as information has got worse: its level is called',
      { ...reported(1), severity: 'critical', made: [{ ...call(1, 6), key: 'informs:level:1:1:0' }] },
      60,
      '1 unsolved',
    ],
    [
      'an approval runs out',
      {
        state: 'awaiting_approval',
        proposal: { id: 'act_a', at: at(6), expiresAt: at(36) },
        made: [call(1, 5), call(2, 15)],
      },
      31,
      '2 approval_expiry',
    ],
    [
      'not before',
      {
        state: 'awaiting_approval',
        proposal: { id: 'act_a', at: at(6), expiresAt: at(36) },
        made: [call(1, 5), call(2, 15)],
      },
      30,
      'look 31',
    ],
    [
      'a short approval has half of its time',
      {
        state: 'awaiting_approval',
        proposal: { id: 'act_a', at: at(20), expiresAt: at(24) },
        made: [call(1, 5), call(2, 15)],
      },
      21,
      'look 22',
    ],
    [
      'whoever has it is told that it runs out',
      {
        state: 'awaiting_approval',
        proposal: { id: 'act_a', at: at(6), expiresAt: at(36) },
        acknowledged: { at: at(7), holds: true },
      },
      31,
      '0 approval_expiry',
    ],
    [
      'and told once',
      {
        state: 'awaiting_approval',
        proposal: { id: 'act_a', at: at(6), expiresAt: at(36) },
        acknowledged: { at: at(7), holds: true },
        made: [call(0, 31)],
      },
      33,
      '-',
    ],
    ['it was given back', { ...reported(2), releasedAt: at(30), made: [call(1, 7)] }, 35, '1 unsolved'],
    [
      'it was given back, and it is not time yet',
      { ...reported(2), releasedAt: at(30), made: [call(1, 7)] },
      34,
      'look 35',
    ],
    ['a person has it paged now', { made: [call(1, 5)], hurried: 2 }, 6, '2 unacknowledged page'],
    [
      'a person has it paged now, at night',
      { made: [call(1, 5)], hurried: 2 },
      60,
      '2 unacknowledged page',
      atNight,
    ],
    ['it is night for this severity', {}, 60, 'quiet until 420', atNight],
    ['morning comes', {}, 420, '1 unacknowledged', atNight],
    ['the next level counts from the morning', { made: [call(1, 420)] }, 425, 'look 430', atNight],
    ['it is night, and critical', { severity: 'critical' }, 60, '1 unacknowledged', atNight],
    ['this severity calls nobody, ever', {}, 60, '-', never],
    ['without a configuration: once, when it is unsolved', reported(3), 3, '1 unsolved', only],
    ['without a configuration: nobody pages', { ...reported(3), made: [call(1, 3)] }, 600, '-', only],
    ['without a configuration: nobody had it for a while', {}, 15, '1 unacknowledged', only],
    ['only some reasons count', {}, 60, '-', { ...ladder, reasons: ['unsolved'] }],
    ['there is nobody to call', reported(1), 60, '-', mentionOnly(() => [])],
    [
      'it fired again: what was before does not count',
      { run: { seq: 30, at: at(100) }, made: [call(1, 5)], acknowledged: null },
      105,
      '1 unacknowledged',
    ],
  ])('%s', (_, changes, minute, expected, by = ladder) => {
    expect(inShort(dueCall(facts(changes), by, at(minute)))).toBe(expected);
  });

  it('the calls of two runs, and of before and after it was given back, are told apart', () => {
    const keyOf = (changes: Partial<Facts>) =>
      dueCall(facts({ ...reported(2), ...changes }), ladder, at(300)).call?.key;
    const keys = [
      keyOf({}),
      keyOf({ releasedAt: at(30) }),
      keyOf({ run: { seq: 30, at: at(100) }, ...reported(100) }),
    ];
    expect(new Set(keys).size).toBe(3);
  });
});
