import { describe, expect, it } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { storyBlocks } from '../../../src/slack/views/blocks/story.ts';
import { anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

type Called = Extract<IncidentEventBody, { type: 'person.called' }>;
const called = (changes: Partial<Called> = {}): Called => ({
  type: 'person.called',
  level: 1,
  reason: 'unacknowledged',
  mentions: ['UANN', 'S0ONCALL'],
  names: [],
  pagers: [],
  problem: null,
  ...changes,
});
const ack = { type: 'incident.acknowledged', by: 'UBEN', how: 'taken' } as const;

function thread(events: readonly IncidentEventBody[], changes: Parameters<typeof anIncident>[0] = {}) {
  const record = aRecord({
    incident: anIncident({ state: 'reported', ...changes }),
    events: eventsOf({ type: 'incident.opened', source: 'test', title: 'x' }, ...events),
  });
  const slots = draw(record, {
    threadUrl: () => null,
    approvers: null,
    pagersAfter: (level) => (level < 2 ? ['pd'] : []),
  });
  const calls = slots.filter(({ slot }) => slot.startsWith('call:') || slot.startsWith('page-failed:'));
  return { record, calls, root: JSON.stringify(slots[0]) };
}
const buttonsOf = (slot: Slot | undefined) =>
  [...JSON.stringify(slot).matchAll(/"action_id":"(\w+)"/g)].map(([, name]) => name);

describe('a call in the thread', () => {
  it('mentions who is on call, says what is needed, and lets them take it or page', () => {
    const { calls, root } = thread([called({ pagers: ['pd'] })]);
    const [call] = calls;
    expect(call?.text).toMatch(/^<@UANN> <!subteam\^S0ONCALL> Nobody has this yet: please take it\. INC-7/);
    expect(JSON.stringify(call)).toContain('Also paged: pd.');
    expect(buttonsOf(call)).toEqual(['sentry_take', 'sentry_page']);
    expect(root).toContain('Nobody has it yet');
    expect(root).not.toContain('UANN');
    expect(root).not.toContain('S0ONCALL');
  });

  it('keeps its buttons under the last call only, and none once somebody has it or it is over', () => {
    const two = thread([called(), called({ level: 2 })]);
    expect(two.calls.map(buttonsOf)).toEqual([[], ['sentry_take']]);
    const taken = thread([called(), ack]);
    expect(taken.calls.map(buttonsOf)).toEqual([[]]);
    expect(JSON.stringify(taken.calls)).toContain('"user_id":"UBEN"');
    expect(taken.root).toContain('Has it: ');
    const over = thread([called()], { state: 'resolved', endedAt: '2026-11-21T11:00:00.000Z' });
    expect(over.calls.map(buttonsOf)).toEqual([[]]);
    expect(over.root).not.toContain('Nobody has it');
  });

  it('keeps its button while somebody only did something, until somebody has it', () => {
    const acted = { ...ack, by: 'UCAR', how: 'acted' } as const;
    const { calls, root } = thread([called({ pagers: ['pd'] }), acted]);
    expect(calls.map(buttonsOf)).toEqual([['sentry_take', 'sentry_page']]);
    expect(JSON.stringify(calls)).toMatch(/UCAR.* is at it, /);
    expect(root).toContain('At it: ');
    const taken = thread([called(), acted, ack]);
    expect(taken.calls.map(buttonsOf)).toEqual([[]]);
    expect(JSON.stringify(taken.calls)).toMatch(/UBEN.* has it, /);
    expect(thread([called(), acted, { type: 'incident.released', by: 'UCAR' }]).calls.map(buttonsOf)).toEqual(
      [[]],
    );
    expect(thread([called(), acted, called({ level: 2 })]).calls.map(buttonsOf)).toEqual([
      [],
      ['sentry_take'],
    ]);
  });

  it('who answered at a paging service is a name, which mentions nobody', () => {
    const { calls, root } = thread([
      called(),
      { ...ack, by: '<!channel> <@UEVIL>', how: 'there', pager: 'pd' },
    ]);
    for (const text of [JSON.stringify(calls), root]) {
      expect(text).not.toContain('"user_id":"UEVIL"');
      expect(text).not.toContain('"type":"broadcast"');
    }
    expect(calls[0]?.text).not.toContain('<!channel>');
  });

  it.each([
    ['<!channel> <!here> <@UEVIL> <!subteam^SEVIL>'],
    [`${'x'.repeat(5_000)} <!channel>`],
    ['\u0000\u202e<!everyone>\n<@UEVIL>'],
  ])('no title, name, target or fault mentions anybody: %#', (hostile) => {
    const { calls } = thread(
      [
        called({ names: [hostile], problem: hostile, mentions: ['UANN', hostile, '!channel', 'C0CHANNEL'] }),
        { type: 'page.failed', level: 1, pager: hostile, reason: hostile },
      ],
      { title: hostile, target: hostile },
    );
    expect(calls).toHaveLength(2);
    for (const { text, blocks } of calls) {
      expect(text.replace('<@UANN>', '')).not.toMatch(/<[!@#]/);
      const mentioned = [
        ...JSON.stringify(blocks).matchAll(/"(?:user_id|usergroup_id|channel_id|range)":"([^"]+)"/g),
      ];
      expect(mentioned.map(([, id]) => id).filter((id) => id !== 'UANN')).toEqual([]);
      expect(text.length).toBeLessThan(1_500);
      expect(JSON.stringify(blocks).length).toBeLessThan(6_000);
    }
  });

  it('the root says until when a call waits, and who is at it', () => {
    expect(thread([{ type: 'call.waits', until: '2026-11-22T06:00:00.000Z' }]).root).toContain(
      'a call waits until ',
    );
    expect(thread([{ ...ack, how: 'acted' }]).root).toContain('At it: ');
    expect(thread([called(), ack, { type: 'incident.released', by: 'UBEN' }]).root).not.toContain('Has it');
  });

  it('a group that Slack did not tell is asked for again when the message is sent, else named', () => {
    const lost = aRecord({ events: eventsOf(called({ mentions: [], groups: ['oncall', '<!channel>'] })) });
    const textOf = (groupOf: (handle: string) => string | null) =>
      draw(lost, { threadUrl: () => null, approvers: null, groupOf }).find(({ slot }) => slot === 'call:1')
        ?.text;
    expect(textOf((handle) => (handle === 'oncall' ? 'S0ONCALL' : null))).toMatch(
      /^<!subteam\^S0ONCALL> @&lt;!channel&gt;: /,
    );
    expect(textOf(() => null)).toMatch(/^@oncall, @&lt;!channel&gt;: Nobody has this yet/);
  });

  it('the story names everybody who was called, and no name that only looks like somebody', () => {
    const named = (changes: Partial<Called>) =>
      [
        ...JSON.stringify(storyBlocks(why(thread([called(changes)]).record))).matchAll(
          /"user_id":"([^"]+)"/g,
        ),
      ].map(([, id]) => id);
    expect(named({ mentions: ['UANN', 'UBEN', 'UCAR', 'S0ONCALL'], names: ['<@UEVIL>'] })).toEqual([
      'UANN',
      'UBEN',
      'UCAR',
    ]);
    expect(named({ mentions: [], names: ['<@UEVIL>, <@UFOE>'] })).toEqual([]);
    const many = Array.from({ length: 30 }, (_, n) => `U0${n + 10}`);
    expect(named({ mentions: many })).toEqual(many.slice(0, 10));
    expect(why(thread([called({ mentions: many })]).record)).toContain(' and 20 more');
  });

  it('why tells who was called, when, and who has it', () => {
    const { record } = thread([
      called({ pagers: ['pd'], problem: 'I could not tell who is on call by the schedule dba.' }),
      { type: 'page.failed', level: 1, pager: 'pd', reason: 'no answer' },
      called({ level: 2, mentions: [], names: ['Carla'], reason: 'unsolved' }),
      { type: 'page.reassigned', to: 'Dora', by: 'Carla', pager: 'pd' },
      ack,
      { type: 'incident.released', by: 'UBEN' },
    ]);
    const story = why(record);
    for (const line of [
      'called <@UANN>, the group on call, paged pd: nobody had it. I could not tell who is on call by the schedule dba.',
      'no page by pd (level 1): no answer',
      'called Carla (level 2): I cannot fix it',
      'given to Dora at pd by Carla',
      '<@UBEN> has it',
      '<@UBEN> gave it back',
    ])
      expect(story).toContain(line);
  });
});
