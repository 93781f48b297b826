import { describe, expect, it } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import type { JudgedChange, WhatChanged } from '../../../src/core/what-changed.ts';
import type { Line } from '../../../src/incidents/questions/answer-lines.ts';
import { answerWithSource } from '../../../src/incidents/questions/record-answer.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { aChange, changesLooked, judged, LOOK } from '../../support/changes.ts';
import { aDiagnosis, anAction, anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

const opened = { type: 'incident.opened', source: 'alertmanager', title: 'x' } as const;
const around = {
  approvers: null,
  open: [],
  now: new Date('2026-11-21T10:20:02Z'),
  mayUndo: () => false,
  elsewhere: false,
};
const diagnosed = (changes: readonly JudgedChange[], rootCause = 'a lock'): IncidentEventBody => ({
  type: 'diagnosis.concluded',
  round: 1,
  diagnosis: aDiagnosis({ rootCause, changes }),
});
const recordOf = (
  found: Partial<WhatChanged>,
  more: readonly IncidentEventBody[] = [],
  extra: Partial<IncidentRecord> = {},
): IncidentRecord =>
  aRecord({
    incident: anIncident({ target: 'shop-api' }),
    actions: [],
    events: eventsOf(opened, changesLooked(found), ...more),
    ...extra,
  });
const plain = (lines: readonly Line[]): string =>
  lines
    .map((line) =>
      line
        .map((piece) => (typeof piece === 'string' ? piece : 'at' in piece ? piece.at.slice(11, 16) : '?'))
        .join(''),
    )
    .join('\n');
const answer = (record: IncidentRecord, text: string, before: readonly string[] = []) => {
  const found = answerWithSource(record, text, around, before);
  return found && { says: plain(found.lines), outcome: found.outcome, source: found.source };
};

const setting = aChange({
  ref: 'c2',
  id: 'look-1',
  source: 'own-look',
  kind: 'config',
  title: 'work_mem of shop-api: 4MB → 64kB',
  by: null,
  from: null,
  to: null,
  at: '2026-11-21T09:40:00.000Z',
  beforeMs: 1_200_000,
});
const later = aChange({
  ref: 'c3',
  id: 'deploy-2',
  title: 'shop-api 1.4.3 deployed',
  to: '1.4.3',
  at: '2026-11-21T10:05:00.000Z',
  when: 'after',
  beforeMs: -300_000,
});

describe('what changed', () => {
  it('is told with when, by whom, and how old the look is; what it rests on is the look', () => {
    expect(answer(recordOf({ suspects: [aChange()] }), 'what changed?')).toEqual({
      says: 'A suspect: shop-api 1.4.2 deployed by olivia, at 09:57, 3 min before it began. Looked at 10:00 (20 min ago).',
      outcome: 'answered',
      source: { kind: 'call', id: LOOK },
    });
  });

  it('is told of the kind that is asked for, else what was changed instead', () => {
    const both = recordOf({ suspects: [aChange(), setting] });
    expect(answer(both, 'was the config changed?')?.says).toMatch(
      /^A suspect: work_mem of shop-api: 4MB → 64kB, nobody said who, at 09:40, 20 min before it began\./,
    );
    const deploys = answer(recordOf({ suspects: [setting] }), 'any deploys?')?.says;
    expect(deploys).toMatch(
      /^No deployment before it is known\. Asked: GitHub, of shop-api, from 08:00 to 10:01\./,
    );
    expect(deploys).toContain('\nA suspect: work_mem');
  });

  it('is nothing that is known, by those who were asked, and never that nothing changed', () => {
    const none = answer(recordOf({}), 'did anyone change anything?');
    expect(none?.outcome).toBe('none');
    expect(none?.says).toMatch(
      /^No change before it is known\. Asked: GitHub, of shop-api, from 08:00 to 10:01\./,
    );
    expect(none?.says).not.toMatch(/nothing (?:was )?changed/i);
  });

  it('cannot be told where nobody could be asked', () => {
    const blind = recordOf({
      answer: 'could_not_look',
      looked: [],
      couldNotLook: [
        { source: 'own-look', of: 'shop-api', from: null, to: null, why: 'no right to read it.' },
      ],
    });
    for (const text of ['what changed?', 'any deploys?', 'did a deploy cause it?'])
      expect(answer(blind, text)?.says, text).toMatch(
        /^What was changed before it cannot be told: no right to read it\./,
      );
    expect(answer(blind, 'what changed?')?.outcome).toBe('not_on_record');
  });

  it('goes on: who, and when', () => {
    const record = recordOf({ suspects: [aChange()] });
    expect(answer(record, 'and who?', ['any deploys?'])?.says).toContain('by olivia');
    expect(answer(record, 'when was that', ['any deploys?'])?.says).toContain('at 09:57');
  });

  it('also tells what was done about it', () => {
    const ran = anAction({ state: 'succeeded', startedAt: '2026-11-21T10:10:00.000Z' });
    const record = recordOf({ suspects: [aChange()] }, [], { actions: [ran] });
    const says = answer(record, 'what was changed?')?.says ?? '';
    expect(says).toContain('1.4.2');
    expect(says).toContain('it ran');
    expect(answer(record, 'what did you change?')?.says).not.toContain('1.4.2');
  });
});

describe('whether a change caused it', () => {
  it.each([
    ['cause', /^By the diagnosis, yes: shop-api 1\.4\.2 deployed by olivia, 3 min before it began\./],
    [
      'suspect',
      /^That is not known: .* is a suspect by its time and place\. No read shows that it is more than that\./,
    ],
    ['unrelated', /^A read speaks against it: shop-api 1\.4\.2/],
  ] as const)('is said as the diagnosis has it: %s', (part, says) => {
    const record = recordOf({ suspects: [aChange()] }, [diagnosed([judged(part)])]);
    const answered = answer(record, 'did that deploy cause it?')?.says ?? '';
    expect(answered).toMatch(says);
    expect(answered).toContain('a lock');
    if (part !== 'cause') expect(answered).not.toMatch(/\byes\b/i);
  });

  it('is not known before there is a diagnosis, and where two fit neither is the one', () => {
    const two = recordOf({
      suspects: [aChange(), aChange({ ref: 'c2', id: 'deploy-9', title: 'shop-api 9 deployed' })],
    });
    const says = answer(two, 'was it the deploy?')?.says ?? '';
    expect(says).toContain('That is not known: shop-api 1.4.2');
    expect(says).toContain('So is this: shop-api 9 deployed');
    expect(says).toContain('No cause is known yet');
  });

  it('is not of one that came later', () => {
    expect(answer(recordOf({ afterwards: [later] }), 'is the deploy to blame?')?.says).toMatch(
      /^No, it was later: shop-api 1\.4\.3 deployed .*5 min after it began/,
    );
  });
});

describe('the story', () => {
  it('tells each change with its part and its address, and who was asked', () => {
    const record = recordOf({ suspects: [aChange(), setting], afterwards: [later], others: 2 }, [
      diagnosed([judged('cause'), { ...judged('unrelated', 'c2'), title: setting.title }]),
    ]);
    const story = why(record);
    expect(story).toContain('*What changed*');
    expect(story).toMatch(
      /• Changed, and a read shows that it is what is wrong: shop-api 1\.4\.2 .*\(https:\/\/github\.example/,
    );
    expect(story).toContain('• Not it, a read speaks against it: work_mem');
    expect(story).toContain('• After it began: shop-api 1.4.3');
    expect(story).toContain('• 2 more changes, of other things');
    expect(story).toContain(
      '• Asked: GitHub, of shop-api, from 2026-11-21T08:00:00Z to 2026-11-21T10:01:00Z',
    );
  });

  it('gives a reference no meaning in another look', () => {
    // `c1` of an earlier look is not `c1` of this one.
    const record = aRecord({
      incident: anIncident({ target: 'shop-api' }),
      events: eventsOf(
        opened,
        { ...changesLooked({ suspects: [aChange()] }), toolCallId: 'tc_dddddddddddd' } as IncidentEventBody,
        changesLooked({ suspects: [{ ...setting, ref: 'c1' }] }, 2),
        diagnosed([{ ...judged('cause'), toolCallIds: ['tc_dddddddddddd'] as never }]),
      ),
    });
    const story = why(record);
    expect(story).toMatch(/what is wrong: shop-api 1\.4\.2/);
    expect(story).toContain('• Suspect: work_mem');
  });
});
