import { describe, expect, it } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { Denial } from '../../../src/core/denial.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asActionId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { undoneOf } from '../../../src/core/undone.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { handoff } from '../../../src/incidents/reports/handoff.ts';
import { postIncidentReport } from '../../../src/incidents/reports/post-incident.ts';
import { reportMarkdown } from '../../../src/incidents/reports/report-text.ts';
import { sitrep } from '../../../src/incidents/reports/sitrep.ts';
import { incidentDocument } from '../../../src/memory/past/incident-document.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { DrawOptions } from '../../../src/slack/views/blocks/slot.ts';
import { storyBlocks } from '../../../src/slack/views/blocks/story.ts';
import {
  ACTION,
  anAction,
  anIncident,
  aRecord,
  CALL,
  eventsOf,
  wholeIncident,
} from '../../support/incident-record.ts';

const UNDO = asActionId('act_bbbbbbbbbbbb');
const now = new Date('2026-11-21T10:30:00.000Z');
const names: Readonly<Record<string, string>> = { UOLIVIA: 'olivia', UNOAH: 'noah', UAMARA: 'amara' };
const options: DrawOptions = {
  threadUrl: () => null,
  approvers: null,
  mayUndo: () => true,
  mayName: () => true,
  nameOf: (id) => names[id] ?? null,
};
const closed = { state: 'resolved', endedAt: '2026-11-21T10:04:00.000Z' } as const;
const done = anAction({
  state: 'succeeded',
  decidedBy: 'UOLIVIA',
  approvedBy: ['UOLIVIA'],
  startedAt: '2026-11-21T10:00:14.000Z',
  finishedAt: '2026-11-21T10:00:15.000Z',
  toolCallId: CALL,
});
const undo = (changes: Partial<Action> = {}): Action =>
  anAction({
    id: UNDO,
    state: 'succeeded',
    purpose: 'undo',
    beside: true,
    undoes: ACTION,
    requestedBy: 'UNOAH',
    decidedBy: 'UNOAH',
    toolCallId: CALL,
    proposedAt: '2026-11-21T10:10:00.000Z',
    startedAt: '2026-11-21T10:10:01.000Z',
    finishedAt: '2026-11-21T10:10:02.000Z',
    ...changes,
  });
const recordOf = (
  actions: readonly Action[],
  incident: Partial<Incident> = { ...closed, resolvedBy: 'confirmed' },
  more: readonly IncidentEventBody[] = [],
  changes: Partial<IncidentRecord> = {},
): IncidentRecord =>
  aRecord({
    incident: anIncident(incident),
    actions,
    events: eventsOf(...wholeIncident, ...more),
    ...changes,
  });
const shown = (record: IncidentRecord, slot: string): string =>
  JSON.stringify(draw(record, options).find((each) => each.slot === slot) ?? null);
const update = (record: IncidentRecord, mentioned?: readonly string[]): string =>
  sitrep(record, { now, read: () => null, nextCallAt: null, ...(mentioned ? { mentioned } : {}) });
const shift = (record: IncidentRecord): string =>
  handoff(
    {
      now,
      since: '2026-11-21T09:00:00.000Z',
      open: [],
      openCount: 0,
      closed: [record],
      muted: [],
      stopped: [],
      denials: [],
    },
    () => null,
  );
const report = (record: IncidentRecord): string =>
  reportMarkdown(postIncidentReport(record, { now, threadUrl: null }), (id) => names[id] ?? id);

describe('what a person has undone', () => {
  const record = recordOf([done, undo()]);

  it('is told as theirs on its card, in the root and in the closing, which does not say that the fix stands', () => {
    expect(shown(record, `action:${ACTION}`)).toMatch(/Undone by ".*"user_id":"UNOAH"/);
    expect(shown(record, 'root')).toMatch(/Undone by ".*"user_id":"UNOAH"/);
    expect(shown(record, 'root')).toContain('Over · fixed, then undone');
    expect(shown(record, 'root')).not.toMatch(/Resolved · fixed|🟢|#2eb67d/);
    expect(shown(record, 'summary:1')).toContain('⚪ Fixed, then undone');
    expect(shown(record, 'summary:1')).toContain('Undone by @noah.');
    expect(shown(recordOf([done]), 'summary:1')).toContain('🟢 Fixed');
  });

  it('is told in an update, a handoff, a report, why and memory', () => {
    expect(update(record)).toContain('Was fixed, then undone');
    expect(update(record)).toContain('undone by <@UNOAH>');
    expect(shift(record)).toContain('undone by <@UNOAH> at 2026-11-21 10:10 UTC: run SELECT');
    expect(shift(record)).toContain(': fixed, then undone, after 4 min');
    expect(report(record)).toContain('Undone by @noah at 2026-11-21 10:10:02 UTC.');
    expect(report(record)).toContain('It was fixed, then undone');
    expect(why(record)).toContain('• undone by <@UNOAH> at');
    expect(JSON.stringify(storyBlocks(why(record)))).toMatch(/undone by ".{0,40}"user_id":"UNOAH"/);
    const { document } = incidentDocument(record, now);
    expect(document).toContain('(succeeded, undone since by a person)');
    expect(document).not.toContain('UNOAH');
  });

  it.each([
    [
      { state: 'unknown' },
      'unknown',
      'Unknown whether its undo ran, asked for by',
      'unknown whether that was undone',
    ],
    [{ state: 'failed' }, 'failed', 'Its undo failed, asked for by', '🟢 Fixed'],
    [{ state: 'started', finishedAt: null }, 'open', 'Being undone, asked for by', '🟢 Fixed'],
    [{ state: 'proposed', finishedAt: null }, 'open', 'Undo waits for approval, asked for by', '🟢 Fixed'],
  ] as const)('%o is no undoing: %s', (changes, kind, says, closing) => {
    const tried = recordOf([done, undo(changes)]);
    expect(undoneOf(tried.actions, [done])).toMatchObject({ kind, says, by: 'UNOAH' });
    expect(shown(tried, `action:${ACTION}`)).toContain(says);
    expect(shown(tried, 'summary:1')).toContain(closing);
  });

  it('is nothing where the undo came to nothing, and the second try counts where the first failed', () => {
    for (const state of ['void', 'denied', 'expired'] as const)
      expect(undoneOf([done, undo({ state })], [done])).toBeNull();
    expect(undoneOf([done, undo({ state: 'failed', toolCallId: null })], [done])).toBeNull();
    const again = undo({ id: asActionId('act_cccccccccccc'), requestedBy: 'UAMARA' });
    expect(undoneOf([done, undo({ state: 'failed' }), again], [done])).toMatchObject({
      kind: 'all',
      by: 'UAMARA',
    });
  });

  it('of a plan says which steps, for the others stand', () => {
    const second = { ...done, id: asActionId('act_dddddddddddd'), planId: ACTION, step: 2 };
    const third = { ...done, id: asActionId('act_eeeeeeeeeeee'), planId: ACTION, step: 3 };
    const steps = [done, second, third];
    const of = (...undos: readonly Action[]) => undoneOf([...steps, ...undos], steps)?.says;
    const one = undo();
    const two = undo({ id: asActionId('act_ffffffffffff'), undoes: second.id });
    expect(of(one)).toBe('Only step 1 of 3 is undone, by');
    expect(of(one, two)).toBe('Only steps 1 and 2 of 3 are undone, by');
    expect(of(one, { ...two, state: 'failed' })).toBe(
      'Only step 1 of 3 is undone: the undo of step 2 failed, asked for by',
    );
    expect(shown(recordOf([...steps, one]), 'summary:1')).toContain('⚪ Fixed, then partly undone');
  });

  it.each([
    ['failed', 'the undo of step 1 failed, asked for by'],
    ['proposed', 'undo waits for approval, asked for by'],
    ['started', 'being undone, asked for by'],
    ['unknown', 'unknown whether the undo of step 1 ran, asked for by'],
  ] as const)(
    'of a plan is not green while one step is undone and the undo of the other is %s',
    (state, rest) => {
      const second = { ...done, id: asActionId('act_dddddddddddd'), planId: ACTION, step: 2 };
      const two = undo({ id: asActionId('act_ffffffffffff'), undoes: second.id });
      const record = recordOf([done, second, two, undo({ state })]);
      expect(undoneOf(record.actions, [done, second])?.says).toBe(`Only step 2 of 2 is undone: ${rest}`);
      expect(shown(record, 'summary:1')).toContain('⚪ Fixed, then partly undone');
      expect(shown(record, 'root')).not.toMatch(/Resolved · fixed|🟢|#2eb67d/);
      expect(update(record)).toContain('Was fixed, then partly undone');
    },
  );

  it('says in the line by which it is opened again who undid the fix', () => {
    const reopened = recordOf([done, undo()], { state: 'diagnosing', round: 2 }, [
      { type: 'action.started', actionId: UNDO },
      { type: 'action.finished', actionId: UNDO, outcome: 'succeeded', text: 'back' },
      {
        type: 'state.changed',
        from: 'resolved',
        to: 'diagnosing',
        reason: 'What had fixed it has been taken back.',
      },
    ]);
    expect(shown(reopened, 'again:opening-2')).toContain('noah undid the fix');
    expect(shown(reopened, 'again:opening-2')).not.toContain('It is back');
  });

  it('is told by a following incident as no help', () => {
    const following = aRecord({
      incident: anIncident({ state: 'diagnosing' }),
      actions: [],
      events: eventsOf(
        { type: 'incident.opened', source: 'alertmanager', title: 'x' },
        {
          type: 'incident.last_time',
          earlier: anIncident().id,
          endedAt: '2026-11-20T10:00:00.000Z',
          ended: 'source',
          fixedBy: null,
          undone: { act: 'Restarted service shop-worker', says: 'Undone by', by: 'UNOAH' },
        },
      ),
    });
    expect(shown(following, 'root')).toMatch(/Restarted service shop-worker: Undone by ".*"user_id":"UNOAH"/);
  });
});

describe('a No that was overridden', () => {
  const no: Denial = {
    id: 'dn_1',
    incidentId: anIncident().id,
    actionId: asActionId('act_dddddddddddd'),
    scope: 'act',
    kind: 'session',
    label: 'session 4242',
    saidBy: 'UAMARA',
    saidAt: '2026-11-21T10:00:05.000Z',
    reason: 'it is the backup',
    until: null,
    channel: null,
    takenBackBy: null,
    takenBackAt: null,
  };
  const denied = anAction({
    id: no.actionId,
    state: 'denied',
    proposedAt: '2026-11-21T10:00:01.000Z',
    decidedBy: 'UAMARA',
  });

  it.each([
    ['stood on the card', [denied, { ...done, denialsAcknowledged: ['dn_1'] }], no],
    [
      'was taken back',
      [denied, done],
      { ...no, takenBackBy: 'UNOAH', takenBackAt: '2026-11-21T10:00:08.000Z' },
    ],
  ] as const)('is told where it %s', (_, actions, denial) => {
    const record = recordOf(actions, undefined, [], { denials: [denial] });
    expect(shown(record, 'summary:1')).toContain('approved by @olivia although @amara had said no.');
    expect(shown(record, 'root')).toMatch(/although ".*"user_id":"UAMARA".* had said no/);
    expect(update(record)).toContain('although <@UAMARA> had said no');
    expect(report(record)).toContain('@amara had said no at 2026-11-21 10:00:05 UTC: “it is the backup”');
  });

  it('is not told of another act', () => {
    const other = { ...denied, command: 'SELECT 1' };
    const taken = { ...no, takenBackBy: 'UNOAH', takenBackAt: '2026-11-21T10:00:08.000Z' };
    expect(shown(recordOf([other, done], undefined, [], { denials: [taken] }), 'summary:1')).not.toContain(
      'said no',
    );
  });
});

describe('who did what with the whole incident', () => {
  const byAmara = { type: 'incident.closed', by: 'UAMARA', reason: 'a drill' } as const;
  const worst = { severity: 'critical' } as const;

  it('says who closed it and why, in a handoff and an update', () => {
    const record = recordOf([], { ...closed, resolvedBy: 'person', closedBy: 'UAMARA' }, [byAmara]);
    expect(shift(record)).toContain('closed by <@UAMARA>: “a drill”, after 4 min');
    expect(update(record)).toContain('Over, closed by <@UAMARA>: “a drill”');
  });

  const opened = wholeIncident.slice(0, 7);
  const taken = (by: string) => ({ type: 'incident.acknowledged', by, how: 'taken' }) as const;
  const stopped = { type: 'incident.stopped', by: 'UAMARA', reason: 'a drill' } as const;
  const moved = (to: 'resolved' | 'stopped') =>
    ({ type: 'state.changed', from: 'diagnosing', to, reason: 'x' }) as const;
  const told = (severity: Incident['severity'], ...events: readonly IncidentEventBody[]) => {
    const record = aRecord({
      incident: anIncident({ severity, state: 'stopped' }),
      actions: [],
      events: eventsOf(...opened, ...events),
    });
    return draw(record, options).filter(({ slot }) => slot.startsWith('called-off:'));
  };

  it('tells of a stop, and mentions whoever has it, in a line of its own', () => {
    const [line] = told('warning', taken('UOLIVIA'), stopped, moved('stopped'));
    expect(line?.text).toBe('<@UOLIVIA> amara stopped INC-7: “a drill”.');
    expect(told('critical', { ...stopped, ...worst }, moved('stopped')).map(({ text }) => text)).toEqual([
      'amara stopped INC-7: “a drill”.',
    ]);
    expect(told('warning', stopped, moved('stopped'))).toEqual([]);
    expect(told('warning', taken('UAMARA'), stopped, moved('stopped'))).toEqual([]);
  });

  it('tells of a close where its closing is no new message, or somebody has it', () => {
    expect(told('critical', { ...byAmara, ...worst }, moved('resolved'))).toEqual([]);
    expect(told('warning', taken('UOLIVIA'), byAmara, moved('resolved'))[0]?.text).toBe(
      '<@UOLIVIA> amara closed INC-7: “a drill”.',
    );
    const back = { type: 'state.changed', from: 'resolved', to: 'diagnosing', reason: 'x' } as const;
    expect(
      told('critical', moved('resolved'), back, { ...byAmara, ...worst }, moved('resolved')),
    ).toHaveLength(1);
  });

  it('keeps the line when its severity is changed later', () => {
    const later = { type: 'severity.changed', from: 'critical', to: 'warning', by: 'UNOAH' } as const;
    expect(told('warning', { ...stopped, ...worst }, moved('stopped'), later)).toHaveLength(1);
  });

  it('draws no line late when it became worse afterwards, nor where nobody said how bad it was', () => {
    expect(told('critical', { ...stopped, severity: 'warning' }, moved('stopped'))).toEqual([]);
    expect(told('critical', stopped, moved('stopped'))).toEqual([]);
  });
});

describe('something critical that waits for a limit', () => {
  const planning = wholeIncident.slice(0, 9);
  const limit = {
    type: 'plan.none',
    reason: 'Two restarts an hour are allowed.',
    asksAgainAt: now.toISOString(),
    severity: 'critical',
  } as const;
  const lines = (severity: Incident['severity'], ...events: readonly IncidentEventBody[]) =>
    draw(
      aRecord({
        incident: anIncident({ severity, state: 'reported' }),
        events: eventsOf(...planning, ...events),
      }),
      { ...options, ringAt: () => ['S0ONCALL'] },
    ).filter(({ slot }) => slot.startsWith('waits:'));

  it('mentions who is on call in a new line, once for the same wait', () => {
    expect(lines('critical', limit).map(({ text }) => text)).toEqual([
      '<!subteam^S0ONCALL> INC-7 waits: Two restarts an hour are allowed.',
    ]);
    expect(lines('critical', limit, limit)).toHaveLength(1);
    expect(lines('critical', limit, { type: 'action.proposed', actionId: ACTION }, limit)).toHaveLength(2);
    expect(lines('warning', { ...limit, severity: 'warning' })).toEqual([]);
    expect(lines('critical', { type: 'plan.none', reason: 'x', severity: 'critical' })).toEqual([]);
  });

  it('draws no line late when it became worse afterwards, nor where nobody said how bad it was', () => {
    const { severity, ...unsaid } = limit;
    expect(lines(severity, { ...limit, severity: 'warning' })).toEqual([]);
    expect(lines(severity, unsaid)).toEqual([]);
  });
});

describe('who was called', () => {
  const asked = (...events: readonly IncidentEventBody[]) =>
    aRecord({
      incident: anIncident({ state: 'awaiting_approval' }),
      events: eventsOf(...wholeIncident.slice(0, 11), ...events),
    });

  it('says whom a card mentioned, and that nobody was paged', () => {
    expect(update(asked(), ['S0ONCALL'])).toContain(
      'Its card mentioned the group on call; nobody was paged.',
    );
    expect(update(asked(), ['UOLIVIA'])).toContain('Its card mentioned <@UOLIVIA>; nobody was paged.');
    expect(update(asked(), [])).toContain('Its card mentioned nobody; nobody was paged.');
    expect(update(asked())).not.toContain('nobody was called');
  });

  it('names who was called and paged', () => {
    const called = {
      type: 'person.called',
      level: 1,
      reason: 'unsolved',
      mentions: ['UOLIVIA'],
      names: ['Dana'],
      pagers: [],
      problem: null,
    } as const;
    expect(update(asked(called))).toMatch(
      /Called at 2026-11-21 10:00 UTC: <@UOLIVIA>, Dana; nobody was paged\./,
    );
    expect(update(asked({ ...called, pagers: ['pagerduty'] }))).toContain('paged by pagerduty.');
  });
});
