import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../../src/core/tool-call.ts';
import type { UsualValue, UsualValues } from '../../../src/core/usual.ts';
import type { Around } from '../../../src/incidents/questions/answer-lines.ts';
import { answerWithSource } from '../../../src/incidents/questions/record-answer.ts';
import { anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

const around: Around = {
  approvers: null,
  open: [],
  now: new Date('2026-11-27T14:30:00.000Z'),
  mayUndo: () => false,
  elsewhere: false,
};
const spread = { low: 80, median: 100, high: 120, samples: 21, days: 7 };
const connections: UsualValue = {
  name: 'connections',
  label: 'connections',
  unit: 'connections',
  now: 412,
  hour: spread,
  all: spread,
  samples: 168,
  unusual: 'higher',
};
const load: UsualValue = { ...connections, name: 'load', label: 'load', unit: '', now: 90, unusual: 'no' };

function compared(values: readonly UsualValue[] | null) {
  const result: UsualValues = {
    target: 'shop-db',
    at: '2026-11-27T14:20:00.000Z',
    values: values ?? [],
    unread: [],
    leftOut: 0,
  };
  const call = { id: 'tc_1', tool: 'usual_values', state: 'ok', target: null, input: {}, result, output: '' };
  return aRecord({
    incident: anIncident({ target: 'shop-db' }),
    events: eventsOf({ type: 'incident.opened', source: 'alertmanager', title: 'x' }),
    ...(values === null ? {} : { toolCalls: [call as unknown as ToolCall] }),
  });
}
const ask = (
  text: string,
  values: readonly UsualValue[] | null = [connections, load],
  more: Partial<Around> = {},
) => answerWithSource(compared(values), text, { ...around, ...more });
const said = (answer: ReturnType<typeof ask>) =>
  answer?.lines.map((line) =>
    line.map((piece) => (typeof piece === 'string' ? piece : 'at' in piece ? piece.at : '')).join(''),
  );

describe('what is usual', () => {
  it.each([
    'is that normal?',
    'is this usual',
    'Is it normal for this time of day?',
    'are 412 connections normal?',
    'is 90% usual here?',
    'what is normal here',
    'what’s unusual?',
    'is anything unusual?',
    'is that many normal',
    'was this higher than usual',
    'how many connections are normal?',
    'how does this compare to usual?',
    'is there a baseline?',
    'isn’t that unusual?',
  ])('is told when asked “%s”', (text) => {
    expect(said(ask(text))).toEqual([
      'Not usual for shop-db at 2026-11-27T14:20:00.000Z: 412 connections, usually 80 to 120 at this hour (7 days). That is a lead, no cause.',
      'As usual: load 90, usually 80 to 120 at this hour (7 days).',
    ]);
    expect(ask(text)).toMatchObject({ outcome: 'answered', source: { kind: 'call', id: 'tc_1' } });
  });

  it.each([
    'is it over?',
    'is it normal that you ask me twice?',
    'what is the usual fix',
    'can we go back to normal operation',
    'who is usually on call',
    'is normal approval needed',
  ])('is not what “%s” asks', (text) => {
    expect(said(ask(text))?.join(' ') ?? '').not.toContain('usual for shop-db');
  });

  it('that nothing was unusual is no word that it is healthy', () => {
    expect(said(ask('is that normal?', [load]))).toEqual([
      'Nothing of shop-db that I keep was unusual at 2026-11-27T14:20:00.000Z: load 90, usually 80 to 120 at this hour (7 days). That does not show that it is healthy.',
    ]);
  });

  it('of which there is none yet is said so', () => {
    const none = { ...connections, hour: null, all: null, unusual: null };
    expect(said(ask('is that normal?', [none]))?.[0]).toMatch(/^There is no usual of shop-db yet/);
  });

  it('that nobody has compared is not on record, and somebody else is asked where there is one', () => {
    expect(ask('is that normal?', null)?.outcome).toBe('not_on_record');
    expect(ask('is that normal?', null, { elsewhere: true })).toBeNull();
  });

  it('is not called too few samples where nothing could be read', () => {
    const unread = { ...connections, now: null, unusual: null };
    expect(said(ask('is that normal?', [unread]))?.join(' ')).toMatch(
      /^What shop-db is like could not be read at /,
    );
    expect(said(ask('is that normal?', [unread, load]))).toContain('1 number could not be read.');
  });
});
