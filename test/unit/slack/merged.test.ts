import { describe, expect, it } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asIncidentId, type IncidentId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import type { MergeReason } from '../../../src/core/merge.ts';
import { hideMerged } from '../../../src/core/merged-with.ts';
import { formatStanding } from '../../../src/incidents/questions/format-state.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { readMergeOrder } from '../../../src/slack/inbound/commands/merge-command.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { LIMITS } from '../../../src/slack/views/blocks/limits.ts';
import type { DrawOptions, Slot } from '../../../src/slack/views/blocks/slot.ts';
import { storyBlocks } from '../../../src/slack/views/blocks/story.ts';
import { anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

const LEAD = asIncidentId('INC-3');
const idOf = (n: number): IncidentId => asIncidentId(`INC-${n + 5}`);
const neighbour: MergeReason = { kind: 'neighbour', target: 'shop-api', neighbour: 'shop-db' };

const member = (n: number, changes: Partial<Incident> = {}): Incident =>
  anIncident({
    id: idOf(n),
    title: `High latency ${n}`,
    severity: 'warning',
    state: 'open',
    mergedInto: LEAD,
    ...changes,
  });

const merged = (n: number, because: MergeReason = neighbour): IncidentEventBody => ({
  type: 'member.merged',
  incident: idOf(n),
  because,
});

const lead = (events: readonly IncidentEventBody[], at: readonly string[] = []): IncidentRecord =>
  aRecord({
    incident: anIncident({ id: LEAD, severity: 'error', state: 'diagnosing' }),
    events: eventsOf(...events).map((event, n) => ({ ...event, at: at[n] ?? event.at })),
  });

const options = (members: readonly Incident[], extra: Partial<DrawOptions> = {}): DrawOptions => ({
  threadUrl: (id) => (id === LEAD ? 'https://example.slack.com/archives/C0/p3' : null),
  approvers: null,
  mergedOf: (id) => members.find((each) => each.id === id) ?? null,
  ...extra,
});

/** All words of a message, as they are read one after the other. */
function read(slot: Slot | undefined): string {
  const found: string[] = [];
  const walk = (part: unknown): void => {
    if (Array.isArray(part)) for (const each of part) walk(each);
    else if (typeof part === 'object' && part !== null) {
      if ('user_id' in part) found.push(`@${String(part.user_id)}`);
      for (const each of Object.values(part))
        if (typeof each === 'string' && 'text' in part && each === part.text) found.push(each);
        else walk(each);
    }
  };
  walk(slot?.blocks);
  return found.join('');
}

const lines = (slots: readonly Slot[]): readonly Slot[] =>
  slots.filter(({ slot }) => slot.startsWith('members:'));
const actionsOf = (slot: Slot | undefined): readonly string[] =>
  [...JSON.stringify(slot?.blocks ?? []).matchAll(/"action_id":"(\w+)"/g)].map(([, id = '']) => id);

describe('the one that leads', () => {
  it('gets a line for what is found to be a part of it, and names it on its card with its state', () => {
    const worse = member(0, { severity: 'critical' });
    const slots = draw(lead([merged(0)]), options([worse]));
    const [line] = lines(slots);
    expect(read(line)).toBe(
      'Also part of this: High latency 0 (INC-5) · shop-db is a neighbour of shop-apiSplit',
    );
    expect(line?.text).toContain('INC-5');
    const [root] = slots;
    expect(read(root)).toContain('🔴 High latency 0 (INC-5) · still fires');
    // Its own is `error`: what it stands for is as bad as the worst of it.
    expect(root?.text).toContain('🔴');
    expect(read(root)).toContain('critical · ');
  });

  it('is as bad as it is itself once that one is over, or on its own', () => {
    const over = member(0, { severity: 'critical', state: 'resolved' });
    expect(draw(lead([merged(0)]), options([over]))[0]?.text).toContain('🟠');
    const split = lead([merged(0), { type: 'member.split', incident: idOf(0), by: 'U0123' }]);
    const slots = draw(split, options([member(0, { severity: 'critical', mergedInto: null })]));
    expect(slots[0]?.text).toContain('🟠');
    expect(read(slots[0])).not.toContain('Also part');
    expect(read(lines(slots)[0])).toBe('High latency 0 (INC-5) is on its own now, split by @U0123.Put back');
    expect(lines(slots)[0]?.text).toContain('is on its own now');
  });

  it('a line says the newest word after each split and each put back, and there is one of it', () => {
    const back = lead([
      merged(0),
      { type: 'member.split', incident: idOf(0), by: 'U0123' },
      merged(0, { kind: 'person', by: 'U0456' }),
    ]);
    const shown = lines(draw(back, options([member(0)])));
    expect(shown).toHaveLength(1);
    expect(read(shown[0])).toContain('@U0456 put them together');
    expect(actionsOf(shown[0])).toEqual(['sentry_split_0']);
    const released = lead([merged(0), { type: 'member.split', incident: idOf(0), by: null }]);
    expect(read(lines(draw(released, options([member(0)])))[0])).toBe(
      'High latency 0 (INC-5) still fires, on its own now.',
    );
  });

  it('fifty at once are one message with a count, within what Slack takes', () => {
    const all = Array.from({ length: 50 }, (_, n) => member(n, { title: `${'x'.repeat(300)} ${n}` }));
    const slots = draw(lead(all.map((_, n) => merged(n))), options(all));
    const shown = lines(slots);
    expect(shown).toHaveLength(1);
    expect(read(shown[0])).toContain('Also part of this: 50 more incidents.');
    expect(read(shown[0])).toContain('And 45 more. To split one: /sentry split');
    expect(new Set(actionsOf(shown[0])).size).toBe(5);
    expect(read(slots[0])).toContain('and 47 more');
    for (const slot of [slots[0], ...shown]) {
      expect(JSON.stringify(slot?.blocks).length).toBeLessThan(LIMITS.messageText);
      expect(slot?.text.length).toBeLessThan(LIMITS.fallback);
    }
  });

  it('fifty one after the other are no more than five lines', () => {
    const all = Array.from({ length: 50 }, (_, n) => member(n));
    const at = all.map((_, n) => new Date(Date.parse('2026-03-01T10:00:00Z') + n * 120_000).toISOString());
    const shown = lines(
      draw(
        lead(
          all.map((_, n) => merged(n)),
          at,
        ),
        options(all),
      ),
    );
    expect(shown).toHaveLength(5);
    expect(read(shown[4])).toContain('46 more incidents');
  });

  it('says nothing of those that may not be named here, and calls its lines the same', () => {
    const at = ['2026-03-01T10:00:00Z', '2026-03-01T10:05:00Z', '2026-03-01T10:10:00Z'];
    const record = lead([merged(0), merged(1), merged(2)], at);
    const all = [member(0), member(1), member(2)];
    const hidden = hideMerged(record, (id) => id === idOf(2));
    const shown = draw(hidden, options(all));
    expect(JSON.stringify(shown)).not.toMatch(/INC-5|INC-6|High latency [01]/);
    expect(lines(shown).map(({ slot }) => slot)).toEqual(
      lines(draw(record, options(all)))
        .slice(2)
        .map(({ slot }) => slot),
    );
    expect(why(hidden)).toContain('another incident is a part of this');
    expect(why(hidden)).not.toContain('INC-5');
    // What goes to a model names none of them.
    expect(why(record, { cites: true })).not.toMatch(/INC-[567]/);
  });
});

describe('a part of another', () => {
  const part = (events: readonly IncidentEventBody[], changes: Partial<Incident> = {}): IncidentRecord =>
    aRecord({ incident: member(0, { nextStep: 'Press me.', ...changes }), events: eventsOf(...events) });
  const into: Extract<IncidentEventBody, { type: 'incident.merged' }> = {
    type: 'incident.merged',
    into: LEAD,
    because: neighbour,
  };
  const theLead = anIncident({ id: LEAD, state: 'diagnosing' });

  it('says of which and why, with a button, and of no next step', () => {
    const [root, ...rest] = draw(part([into]), options([theLead]));
    expect(read(root)).toContain('Part of INC-3: shop-db is a neighbour of shop-api');
    expect(JSON.stringify(root?.blocks)).toContain('https://example.slack.com/archives/C0/p3');
    expect(read(root)).not.toContain('Press me.');
    expect(actionsOf(root)).toContain('sentry_split');
    expect(rest).toEqual([]);
    expect(root?.strip?.text).toBe('Part of INC-3');
  });

  it('is called so in every list, unless it is over or stopped', () => {
    expect(formatStanding(member(0))).toBe('Part of INC-3');
    expect(formatStanding(member(0, { state: 'resolved' }))).toBe('Resolved');
    expect(formatStanding(member(0, { state: 'stopped' }))).toBe('Stopped by a person');
    expect(why(part([into]))).toContain('Part of INC-3.');
  });

  it('once split says from which and by whom, and may be put back', () => {
    const split = part([into, { type: 'incident.split', from: LEAD, by: 'U0123' }], { mergedInto: null });
    const [root] = draw(split, options([theLead]));
    expect(read(root)).toContain('Split from INC-3 by @U0123');
    expect(actionsOf(root)).toContain('sentry_put_back');
    expect(JSON.stringify(root?.blocks)).toContain('"INC-5:INC-3"');
    const over = draw({ ...split, incident: { ...split.incident, state: 'resolved' } }, options([theLead]));
    expect(actionsOf(over[0])).not.toContain('sentry_put_back');
  });

  it.each([
    ['resolved', 'INC-3 is over, this still fires: I look into it by itself.'],
    ['escalated', 'INC-3 waits for people, this still fires: I look into it by itself.'],
    ['diagnosing', 'No longer a part of INC-3.'],
  ] as const)('let go because the one that led is %s, says so first', (state, says) => {
    const free = part([into, { type: 'incident.split', from: LEAD, by: null }], { mergedInto: null });
    const [root] = draw(free, options([anIncident({ id: LEAD, state })]));
    expect(read(root)).toContain(`What is going on? ${says}`);
    expect(actionsOf(root)).not.toContain('sentry_put_back');
  });

  it('names no incident that its readers may not read of', () => {
    const hidden = hideMerged(
      part([into, { type: 'incident.split', from: LEAD, by: 'U0123' }, into]),
      () => false,
    );
    const slots = draw(hidden, options([]));
    expect(JSON.stringify([slots, why(hidden), formatStanding(hidden.incident)])).not.toContain('INC-3');
    expect(read(slots[0])).toContain('Part of another incident: ');
  });

  it('who put them together, or split them, is named by the story and by no value in it', () => {
    const by: MergeReason = { kind: 'person', by: 'U0123' };
    const told = JSON.stringify(storyBlocks(why(part([{ ...into, because: by }]))));
    expect(told).toContain('"user_id":"U0123"');
    const change: MergeReason = {
      kind: 'change',
      change: { id: 'c1', title: '<@U0999> deploy', url: 'javascript:x' },
    };
    const record = part([{ ...into, because: change }]);
    expect(JSON.stringify([storyBlocks(why(record)), draw(record, options([theLead]))])).not.toMatch(
      /"user_id":"U0999"|"url":"javascript/,
    );
  });
});

describe('what is said to split and merge', () => {
  it.each([
    ['split', { verb: 'split', id: null }],
    ['Split it.', { verb: 'split', id: null }],
    ['split inc-5', { verb: 'split', id: 'INC-5' }],
    ['merge into INC-3', { verb: 'merge', id: null, into: 'INC-3' }],
    ['merge INC-5 into INC-3!', { verb: 'merge', id: 'INC-5', into: 'INC-3' }],
    ['merge INC-5 with inc-3', { verb: 'merge', id: 'INC-5', into: 'INC-3' }],
  ])('%s', (text, order) => expect(readMergeOrder(text)).toEqual(order));

  it.each([
    'split the table into partitions',
    'merge INC-5',
    'merge the branch into main',
    'why was it split?',
    'split INC-0',
    'splitting',
  ])('%s is none', (text) => expect(readMergeOrder(text)).toBeNull());
});
