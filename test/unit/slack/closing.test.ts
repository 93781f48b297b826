import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asActionId, asIncidentId, asToolCallId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import { measureAt, readMeasure } from '../../../src/core/measure.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { DrawOptions, Slot } from '../../../src/slack/views/blocks/slot.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  aToolCall,
  eventsOf,
  wholeIncident,
} from '../../support/incident-record.ts';

const blocked = measureAt('blocked', {
  name: 'blocked_count',
  label: 'sessions waiting for a lock',
  unit: 'sessions',
  healthy: 'at_most',
  bound: 0,
});
const reachable = measureAt('up', {
  name: 'reachable',
  label: 'the database can be reached',
  unwell: { is: 'the database cannot be reached', was: 'the database could not be reached' },
  unit: '',
  healthy: 'at_least',
  bound: 1,
});
const options: DrawOptions = {
  threadUrl: (id) => `https://example.slack.com/archives/C0/${id}`,
  approvers: null,
  mayName: () => true,
  nameOf: (id) => (id === 'UOLIVIA' ? 'olivia' : null),
  measured: (step, call) => {
    const measure = [blocked, reachable].find(({ name }) => name === step.measure?.name);
    return measure && call.tool === step.tool && call.state === 'ok'
      ? { measure, ...readMeasure(measure, measure.bound, call.result) }
      : null;
  },
};

const SEEN = '✓ sessions waiting for a lock: 0 sessions (healthy: at most 0 sessions)';
const moved = (from: Incident['state'], to: Incident['state']): IncidentEventBody => ({
  type: 'state.changed',
  from,
  to,
  reason: 'x',
});
const concluded = (
  verdict: 'fixed' | 'not_fixed' | 'cannot_tell',
  reason: string,
  round = 1,
): IncidentEventBody => ({ type: 'verification.concluded', round, verdict, reason });
const summary = (text: string): IncidentEventBody => ({ type: 'incident.summary', text });
const started = (actionId = ACTION): IncidentEventBody => ({ type: 'action.started', actionId });
const sourceOver: IncidentEventBody = { type: 'alert.resolved', source: 'alertmanager' };
/** To where the fix has run and is looked at. */
const ran = wholeIncident.slice(0, 17);
const fixed = [...ran, concluded('fixed', `${SEEN} (held for 60 s)`), moved('verifying', 'resolved')];
const diagnosed = wholeIncident.slice(0, 8);

const atSecond = (second: number): string =>
  new Date(Date.parse('2026-11-21T10:00:00.000Z') + second * 1000).toISOString();
const repair = (changes: Partial<Action> = {}): Action =>
  anAction({
    state: 'succeeded',
    tool: 'postgres_terminate_backend',
    objects: [{ kind: 'session', key: 'pid:32497', label: 'session 32497 (shop-backoffice)' }],
    decidedBy: 'UOLIVIA',
    startedAt: atSecond(14),
    toolCallId: asToolCallId('tc_bbbbbbbbbbbb'),
    verify: {
      steps: [
        { tool: 'pg_up', input: {}, measure: { name: 'reachable' }, says: '' },
        { tool: 'pg_blocking_tree', input: {}, measure: { name: 'blocked_count' }, says: '' },
      ],
      holdMs: 0,
      timeoutMs: 0,
    },
    ...changes,
  });
const look = (second: number, blockedCount: number | null) =>
  aToolCall({
    id: asToolCallId(`tc_${String(second).padStart(12, '0')}`),
    result: blockedCount === null ? {} : { blocked: blockedCount },
    startedAt: atSecond(second),
  });

interface Told {
  readonly events: readonly IncidentEventBody[];
  readonly incident?: Partial<Incident>;
  readonly actions?: readonly Action[];
  readonly looks?: ReturnType<typeof look>[];
}
const recordOf = ({ events, incident, actions = [repair()], looks = [] }: Told) =>
  aRecord({
    incident: anIncident({ state: 'resolved', cause: 'a lock is held', costUsd: 0.04, ...incident }),
    events: eventsOf(...events),
    actions,
    toolCalls: looks,
  });
const slotsOf = (told: Told, extra: Partial<DrawOptions> = {}): readonly Slot[] =>
  draw(recordOf(told), { ...options, ...extra });

/** All that a reader sees of blocks without a press. */
function visible(block: unknown): string {
  if (Array.isArray(block)) return block.map(visible).join('');
  if (typeof block !== 'object' || block === null) return '';
  const one = block as Record<string, unknown>;
  if (one['type'] === 'data_visualization') return '';
  if (one['type'] === 'rich_text_section') return `${visible(one['elements'])}\n`;
  if (typeof one['text'] === 'string') return one['text'];
  if (one['type'] === 'user') return '@somebody';
  if (one['type'] === 'usergroup') return '@on-call';
  if (one['type'] === 'date') return '10:40 AM';
  return [one['text'], one['elements']].map(visible).join('');
}
const said = (told: Told, name = 'summary:1', extra: Partial<DrawOptions> = {}): string =>
  visible(slotsOf(told, extra).find(({ slot }) => slot === name)?.blocks);
const namesOf = (told: Told): readonly string[] =>
  slotsOf(told)
    .map(({ slot }) => slot)
    .filter((name) => /^(summary|verification|again|escalation|call)/.test(name));

const byOurCheck = { verdict: 'fixed', resolvedBy: 'confirmed' } as const;
const bySource = { resolvedBy: 'source' } as const;
const first = repair({ id: asActionId('act_bbbbbbbbbbbb') });
const lasting = anAction({
  id: asActionId('act_cccccccccccc'),
  state: 'succeeded',
  purpose: 'prevent',
  beside: true,
});

const ends: Readonly<Record<string, Told & { readonly says: string }>> = {
  'fixed, and its source has not said anything': {
    events: fixed,
    incident: byOurCheck,
    looks: [look(3, 4), look(9, 5), look(12, 4), look(15, 1), look(16, 0), look(18, 0)],
    says: `🟢 Fixed · after 19 s · $0.04
Sessions waiting for a lock: 4 → 0. Confirmed by my own check, held for 60 s.
Ended session 32497 (shop-backoffice), approved by @olivia.
The fix ran at 10:40 AM.
`,
  },
  'its source said so before our check was through': {
    events: [...ran, sourceOver, ...fixed.slice(17)],
    incident: byOurCheck,
    says: `🟢 Fixed · after 20 s · $0.04
Sessions waiting for a lock: 0 sessions. Confirmed by my own check, held for 60 s, and by the alert’s source.
Ended session 32497 (shop-backoffice), approved by @olivia.
`,
  },
  'its source said so after our own check had held': {
    events: [
      ...ran,
      moved('verifying', 'escalated'),
      summary(`Over, says Alertmanager. My own check had held before: ${SEEN}`),
      moved('escalated', 'resolved'),
    ],
    incident: byOurCheck,
    says: `🟢 Fixed · after 20 s · $0.04
Alertmanager says so. My own check had held before: sessions waiting for a lock: 0 sessions.
Ended session 32497 (shop-backoffice), approved by @olivia.
`,
  },
  'its source says so, and our own check does not': {
    events: [
      ...ran,
      concluded('cannot_tell', 'Alertmanager says it is over; my own check does not confirm that: ✗ 3 wait'),
      moved('verifying', 'resolved'),
    ],
    incident: { ...bySource, verdict: 'cannot_tell' },
    looks: [look(3, 4), look(15, 4), look(16, 3)],
    says: `⚪ Over · after 19 s · $0.04
Alertmanager says it is over; my own check does not confirm that: ✗ 3 wait.
Ended session 32497 (shop-backoffice), approved by @olivia.
`,
  },
  'it could not be told, and later its source said so': {
    events: [
      ...ran,
      concluded('cannot_tell', 'It could not be read: no answer'),
      moved('verifying', 'escalated'),
      summary('Over, says Alertmanager. My own check could not be read: no answer'),
      moved('escalated', 'resolved'),
    ],
    incident: bySource,
    says: `⚪ Over · after 21 s · $0.04
Alertmanager says so. My own check could not be read.
Ended session 32497 (shop-backoffice), approved by @olivia.
`,
  },
  'by itself': {
    events: [
      ...diagnosed,
      sourceOver,
      summary(`Over, says Alertmanager. My own check agrees: ${SEEN}`),
      moved('diagnosing', 'resolved'),
    ],
    incident: bySource,
    actions: [],
    says: `⚪ Over · after 11 s · $0.04
Alertmanager says so. My own check agrees: ✓ sessions waiting for a lock: 0 sessions.
Cause: a lock is held
`,
  },
  'a person closed it': {
    events: [...diagnosed, moved('reported', 'resolved')],
    incident: { resolvedBy: 'person' },
    actions: [],
    says: `⚪ Over · after 9 s · $0.04
A person says it is over.
Cause: a lock is held
`,
  },
  'in silence': {
    events: [
      ...diagnosed,
      summary('Nothing was heard for 7 days. Whether the problem is gone is not known.'),
      moved('reported', 'resolved'),
    ],
    actions: [],
    says: `⚪ Over · after 10 s · $0.04
Nothing was heard for 7 days. Whether the problem is gone is not known.
Cause: a lock is held
`,
  },
  'the second repair helped, and a lasting fix ran beside it': {
    events: [
      ...diagnosed,
      started(first.id),
      concluded('not_fixed', 'Still so'),
      moved('verifying', 'diagnosing'),
      started(),
      concluded('fixed', `${SEEN} (held for 9 s)`, 2),
      moved('verifying', 'resolved'),
      started(lasting.id),
    ],
    incident: { ...byOurCheck, round: 2 },
    actions: [first, repair({ round: 2, decidedBy: 'policy' }), lasting],
    says: `🟢 Fixed · after 14 s · $0.04
Sessions waiting for a lock: 0 sessions. Confirmed by my own check, held for 9 s.
Ended session 32497 (shop-backoffice), approved by a rule of the policy. 1 earlier try did not help.
`,
  },
  'the repair never ran, so nothing is said to be done': {
    events: [...ran, moved('verifying', 'reported'), moved('reported', 'resolved')],
    incident: bySource,
    actions: [repair({ state: 'failed', toolCallId: null })],
    says: `⚪ Over · after 19 s · $0.04
The source of the alert says it is over.
Cause: a lock is held
`,
  },
  'only a part of its plan ran': {
    events: fixed,
    incident: byOurCheck,
    actions: [
      repair(),
      repair({
        id: asActionId('act_dddddddddddd'),
        planId: ACTION,
        step: 2,
        state: 'failed',
        objects: [{ kind: 'service', key: 's', label: 'service shop' }],
        tool: 'restart_service',
      }),
    ],
    says: `🟢 Fixed · after 19 s · $0.04
Sessions waiting for a lock: 0 sessions. Confirmed by my own check, held for 60 s.
Ended session 32497 (shop-backoffice); Restart service shop: failed, approved by @olivia.
`,
  },
  'the same alert had one before': {
    events: [
      {
        type: 'incident.last_time',
        earlier: asIncidentId('INC-1'),
        endedAt: '2026-11-21T08:00:01.000Z',
        ended: 'confirmed',
        fixedBy: null,
      },
      ...fixed,
    ],
    incident: byOurCheck,
    says: `🟢 Fixed · after 20 s · $0.04 · again 2 h 0 min after INC-1
Sessions waiting for a lock: 0 sessions. Confirmed by my own check, held for 60 s.
Ended session 32497 (shop-backoffice), approved by @olivia.
`,
  },
};

describe('the closing message', () => {
  it.each(Object.entries(ends))('%s', (_, { says, ...told }) => {
    expect(said(told).replace(/Was the cause right\?\nYesNoPost-mortemDraft runbook$/, '')).toBe(says);
    expect(namesOf(told).filter((name) => name !== 'escalation:1')).toEqual(['summary:1']);
    // Green stands for what was seen, and never beside what was not.
    if (says.includes('🟢')) expect(says).not.toMatch(/✗/);
    else expect(said(told)).not.toMatch(/🟢|Fixed/);
  });

  it('is not there before the end, whatever was concluded', () => {
    for (const events of [ran, fixed.slice(0, -1), [...ran, concluded('not_fixed', 'Still so')]])
      expect(namesOf({ events, incident: { state: 'verifying' } })).toEqual([]);
  });

  it('draws the reads on record, and says the same in words where charts are not known', () => {
    const { says: _, ...told } = ends['fixed, and its source has not said anything'] as (typeof ends)[string];
    const slot = slotsOf(told).find(({ slot }) => slot === 'summary:1');
    expect(slot?.blocks).toContainEqual({
      type: 'data_visualization',
      title: 'Sessions waiting for a lock',
      chart: {
        type: 'bar',
        series: [
          {
            name: 'sessions',
            data: [
              { label: '−11 s', value: 4 },
              { label: '−5 s', value: 5 },
              { label: '−2 s', value: 4 },
              { label: '+1 s', value: 1 },
              { label: '+2 s', value: 0 },
              { label: '+4 s', value: 0 },
            ],
          },
        ],
        axis_config: {
          categories: ['−11 s', '−5 s', '−2 s', '+1 s', '+2 s', '+4 s'],
          x_label: 'Before (−) and after (+) the fix',
          y_label: 'Sessions',
        },
      },
    });
    // Its caption, with the time in the zone of who reads it, goes with the chart.
    const at = slot?.blocks.findIndex(({ type }) => (type as string) === 'data_visualization') ?? -1;
    expect(visible(slot?.blocks.slice(at + 1, at + 2))).toBe('The fix ran at 10:40 AM.\n');
    expect(slot?.simpler).toEqual(slot?.blocks.filter((_, n) => n !== at && n !== at + 1));
    expect(visible(slot?.simpler)).toContain('4 → 0');
  });

  it('takes no other read, and none that failed or came after the end, for a value', () => {
    const slots = (...looks: ReturnType<typeof look>[]) =>
      slotsOf({ events: fixed, incident: byOurCheck, looks }).find(({ slot }) => slot === 'summary:1');
    const few = slots(look(3, 4), look(15, null), look(16, 0), look(60, 7));
    expect(visible(few?.blocks)).toContain('4 → 0');
    expect(few?.simpler).toBeUndefined();
    const failed = { ...look(12, 4), state: 'failed' as const };
    const other = { ...look(13, 9), target: 'another-db' };
    const chart = slots(look(3, 4), failed, other, look(15, 1), look(16, 0));
    expect(JSON.stringify(chart?.blocks)).toContain('"+2 s","value":0');
    expect(JSON.stringify(chart?.blocks)).not.toMatch(/"value":9|−2 s/);
    // Nothing was wrong before it by what was read: no change is claimed.
    expect(visible(slots(look(3, 0), look(15, 0), look(16, 0))?.blocks)).not.toContain('→');
  });

  it('asks once: whether the cause was right, or where none was found, whether it was useful', () => {
    const asks = (verdict: 'cause_found' | 'cannot_tell') =>
      said({
        events: [
          { type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis({ verdict }) },
          moved('reported', 'resolved'),
        ],
      });
    expect(asks('cause_found')).toMatch(/Was the cause right\?\nYesNoPost-mortemDraft runbook$/);
    expect(asks('cannot_tell')).toMatch(/Was this useful\?\nYesNoPost-mortemDraft runbook$/);
    expect(said({ events: [moved('open', 'resolved')] })).not.toContain('?');
    // Nothing was found out that a runbook could say.
    expect(said({ events: [moved('open', 'resolved')] })).not.toContain('Draft runbook');
  });
});

describe('an incident that comes back', () => {
  const again: readonly IncidentEventBody[] = [
    ...fixed,
    { type: 'alert.repeated', source: 'alertmanager', occurrences: 2, again: true },
    moved('resolved', 'diagnosing'),
  ];
  const over = [...again, summary('Over, says Alertmanager.'), moved('diagnosing', 'resolved')];

  it('says so in one line, and how that ended in the same', () => {
    const working = { events: again, incident: { state: 'diagnosing' } as const };
    expect(namesOf(working)).toEqual(['summary:1', 'again:opening-2']);
    expect(said(working, 'again:opening-2')).toBe(
      '🔁 Fires again, 10:40 AM (2nd time in 21 s). I look again.\n',
    );
    const ended = { events: over, incident: bySource };
    expect(namesOf(ended)).toEqual(['summary:1', 'again:opening-2']);
    expect(said(ended, 'again:opening-2')).toBe(
      '⚪ Over · after 2 s · 2nd time in 21 s · $0.04\nAlertmanager says so.\n',
    );
    // What ended before stays as it was.
    expect(said(ended)).toMatch(/^🟢 Fixed · after 19 s\nSessions waiting/);
    const third = { events: [...over, moved('resolved', 'diagnosing')] };
    expect(said(third, 'again:opening-3')).toContain('🔁 It is back, 10:40 AM (3rd time in ');
  });

  it('says what our own check saw when nothing fires, and does not spoil the closing before it', () => {
    const told = {
      events: [...fixed, concluded('not_fixed', 'It is back.'), moved('resolved', 'diagnosing')],
      incident: { state: 'diagnosing' } as const,
    };
    expect(said(told, 'again:opening-2')).toContain('It is back');
    expect(said(told)).toContain('Confirmed by my own check, held for 60 s');
    expect(said(told)).not.toContain('did not help');
  });

  it('keeps to what was true when it ended, whatever is found later', () => {
    const events = [
      ...diagnosed,
      moved('reported', 'resolved'),
      moved('resolved', 'diagnosing'),
      {
        type: 'diagnosis.concluded',
        round: 2,
        diagnosis: aDiagnosis({ rootCause: 'the disk is full' }),
      } as const,
    ];
    const told = {
      events,
      actions: [],
      incident: { state: 'diagnosing', cause: 'the disk is full' } as const,
    };
    expect(said(told)).toMatch(/It was called over\.\nCause: pid 4242 holds a lock/);
    expect(said(told)).not.toContain('disk');
  });

  it('rests in one line while it flaps, which says at last that it is over', () => {
    const flaps: readonly IncidentEventBody[] = [
      ...fixed,
      { type: 'alert.repeated', source: 'alertmanager', occurrences: 5, again: true },
      { type: 'alert.flapping', flips: [atSecond(0), atSecond(600)] },
      moved('resolved', 'reported'),
    ];
    expect(namesOf({ events: flaps, incident: { state: 'reported' } })).toEqual(['summary:1', 'again:1']);
    const ended = { events: [...flaps, moved('reported', 'resolved')], incident: bySource };
    expect(namesOf(ended)).toEqual(['summary:1', 'again:1']);
    expect(said(ended, 'again:1')).toMatch(/^⚪ Over · after 1 s · 2nd time in 22 s/);
  });

  it('never renames, reorders or drops a message while the record grows', () => {
    let before: readonly string[] = [];
    for (let length = 1; length <= over.length; length += 1) {
      const now = namesOf({ events: over.slice(0, length), incident: { state: 'diagnosing' } });
      expect(now.slice(0, before.length), `after event ${length}`).toEqual(before);
      before = now;
    }
    expect(before).toEqual(['summary:1', 'again:opening-2']);
  });
});

describe('what needs a person', () => {
  const call: IncidentEventBody = {
    type: 'person.called',
    level: 1,
    reason: 'failed_verification',
    mentions: ['S0ONCALL'],
    names: [],
    pagers: [],
    problem: null,
  };
  const escalated: readonly IncidentEventBody[] = [
    ...ran,
    { type: 'incident.escalated', reason: 'Not fixed after 3 attempts' },
  ];
  const names = (calls: DrawOptions['calls'], ...more: readonly IncidentEventBody[]) =>
    draw(recordOf({ events: [...escalated, ...more], incident: { state: 'escalated' } }), {
      ...options,
      ...(calls ? { calls } : {}),
    })
      .map(({ slot }) => slot)
      .filter((name) => /^(escalation|call)/.test(name));

  it('is told by the call, which says why; by a line of its own only where none comes now', () => {
    expect(names('at_once')).toEqual([]);
    expect(names('at_once', call)).toEqual(['call:19']);
    expect(
      said({ events: [...escalated, call], incident: { state: 'escalated' } }, 'call:19', {
        calls: 'at_once',
      }),
    ).toBe('The fix did not work. @on-call, please look.\nNot fixed after 3 attempts.\nI have it');
    expect(names('never')).toEqual(['escalation:1']);
    expect(names('later')).toEqual(['escalation:1']);
    // Once it stands it stays.
    expect(names('later', call)).toEqual(['escalation:1', 'call:19']);
    const waits = { type: 'call.waits', until: '2026-11-22T06:00:00.000Z' } as const;
    expect(names('at_once', waits)).toEqual(['escalation:1']);
    expect(names('at_once', waits, call)).toEqual(['escalation:1', 'call:20']);
  });

  it('says what became of nobody’s call: that nobody is there, or until when it waits', () => {
    const line = (calls: DrawOptions['calls'], ...more: readonly IncidentEventBody[]) =>
      said(
        { events: [...escalated, ...more], incident: { state: 'escalated' } },
        'escalation:1',
        calls ? { calls } : {},
      );
    expect(line('never')).toBe(
      '🚨 A person is needed. Not fixed after 3 attempts. Nobody is set up to be called.\n',
    );
    expect(line('at_once', { type: 'call.waits', until: '2026-11-22T06:00:00.000Z' })).toContain(
      'Quiet hours: a call waits until 10:40 AM.',
    );
  });

  it('a call of a new opening does not repeat the reason of the one before', () => {
    const events = [...escalated, moved('escalated', 'resolved'), moved('resolved', 'diagnosing'), call];
    expect(said({ events, incident: { state: 'reported' } }, 'call:21')).not.toContain('attempts');
  });
});

const hostile = fc.oneof(
  fc.constantFrom(
    '<!channel> <@U0ADMIN>',
    '🟢 Fixed',
    '*x* `y`',
    '\n\nApprove',
    '(held for (held for (held for',
  ),
  fc.string({ unit: 'binary', maxLength: 3000 }),
  fc.constantFrom('x', ' ', '✗ ', '(healthy: ').map((text) => text.repeat(2000)),
);

it('is short whatever the texts, mentions nobody, and is one message', () => {
  const LONGEST: readonly (readonly [RegExp, number])[] = [
    [/^summary:/, 350],
    [/^(again|call|escalation|no-plan|page-failed):/, 250],
  ];
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(ends)), hostile, hostile, (name, text, other) => {
      const { says: _, ...told } = ends[name] as (typeof ends)[string];
      const events = told.events.map((event): IncidentEventBody => {
        if (event.type === 'incident.summary') return { ...event, text };
        return event.type === 'verification.concluded' ? { ...event, reason: text } : event;
      });
      const asked = { type: 'action.proposed', actionId: ACTION } as const;
      const more: readonly IncidentEventBody[] = [
        asked,
        { type: 'plan.none', reason: text, said: other },
        { type: 'incident.escalated', reason: other },
        { type: 'call.waits', until: '2026-11-22T06:00:00.000Z' },
        {
          type: 'person.called',
          level: 2,
          reason: 'unsolved',
          mentions: ['S0ONCALL'],
          names: [text],
          pagers: [other],
          problem: text,
        },
        { type: 'page.failed', level: 2, pager: text, reason: other },
        { type: 'alert.repeated', source: 'x', occurrences: 9, again: true },
        moved('resolved', 'diagnosing'),
      ];
      const slots = draw(
        recordOf({
          ...told,
          events: [...events, ...more],
          incident: { ...told.incident, cause: text, nextStep: other, title: other, target: text },
          actions: (told.actions ?? [repair()]).map((action) => ({
            ...action,
            command: text,
            outcome: other,
            objects: [{ kind: 'session', key: other, label: text }],
          })),
        }),
        { ...options, nameOf: () => text, pagersAfter: () => ['pd'] },
      );
      const own = slots.filter(({ slot }) => LONGEST.some(([names]) => names.test(slot)));
      const kinds = new Set(own.map(({ slot }) => slot.replace(/:.*/, '')));
      for (const kind of ['summary', 'again', 'call', 'escalation', 'page-failed'])
        expect(kinds).toContain(kind);
      expect(kinds.has('no-plan')).toBe(told.actions?.length !== 0);
      for (const { slot, blocks, text: fallback } of own) {
        const most = LONGEST.find(([names]) => names.test(slot))?.[1];
        expect(visible(blocks).length, slot).toBeLessThanOrEqual(most ?? 0);
        const mentions = [...JSON.stringify(blocks).matchAll(/"type":"(user|usergroup|broadcast|channel)"/g)];
        expect(mentions.length, slot).toBe(slot.startsWith('call:') ? 1 : 0);
        expect(fallback.replace('<!subteam^S0ONCALL> ', '')).not.toMatch(/[<>]/);
      }
    }),
    { numRuns: 200 },
  );
});
