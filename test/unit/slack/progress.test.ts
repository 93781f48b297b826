import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkBlocks } from '../../../playground/slack/validate/payload.ts';
import type { Diagnosis, Hypothesis } from '../../../src/core/diagnosis.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asToolCallId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import { messageOf } from '../../../src/slack/outbound/message.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { MAX_TASKS, planBlock, planText } from '../../../src/slack/views/blocks/plan-block.ts';
import type { DrawOptions, Slot } from '../../../src/slack/views/blocks/slot.ts';
import { diagnosisView } from '../../../src/slack/views/record-views.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  aToolCall,
  CALL,
  eventsOf,
  INCIDENT,
  wholeIncident,
} from '../../support/incident-record.ts';

const options: DrawOptions = { threadUrl: () => null, approvers: null, mayReadAgain: true };

/** Everything that is seen without a press: words, titles, labels. */
function visible(blocks: unknown): string {
  if (Array.isArray(blocks)) return blocks.map(visible).join('');
  if (typeof blocks !== 'object' || blocks === null) return '';
  return Object.entries(blocks)
    .map(([name, each]) =>
      typeof each === 'string' ? (['text', 'title', 'fallback'].includes(name) ? each : '') : visible(each),
    )
    .join('');
}

/** The state that the last move led to. */
const stateAfter = (events: readonly IncidentEventBody[]): IncidentState =>
  events.findLast((event) => event.type === 'state.changed')?.to ?? 'open';

function slotsAfter(
  events: readonly IncidentEventBody[],
  incident: Parameters<typeof anIncident>[0] = {},
): readonly Slot[] {
  return draw(
    aRecord({
      incident: anIncident({ state: stateAfter(events), ...incident }),
      events: eventsOf(...events),
      actions: [anAction()],
    }),
    options,
  );
}
const live = (...given: Parameters<typeof slotsAfter>): Slot | undefined =>
  slotsAfter(...given).find(({ slot }) => slot.startsWith('live:'));
const tasksOf = (slot: Slot | undefined): readonly string[] =>
  (slot?.blocks ?? []).flatMap((block) =>
    block.type === 'plan' ? (block.tasks ?? []).map((task) => `${task['status']}: ${task['title']}`) : [],
  );

const moved = (from: IncidentState, to: IncidentState): IncidentEventBody => ({
  type: 'state.changed',
  from,
  to,
  reason: '',
});
const look = (purpose: string, summary = 'seen'): IncidentEventBody => ({
  type: 'tool.called',
  toolCallId: CALL,
  role: 'detective',
  tool: 'pg_locks',
  purpose,
  state: 'ok',
  summary,
});
const found = (changes: Partial<Diagnosis> = {}): IncidentEventBody => ({
  type: 'diagnosis.concluded',
  round: 1,
  diagnosis: aDiagnosis(changes),
});
const hint = (text: string): IncidentEventBody => ({ type: 'hint.given', by: 'U0ONCALL', text });
const begun = [moved('open', 'triaging'), moved('triaging', 'diagnosing')];

describe('a plan', () => {
  it('is one that Slack takes, whatever stands in it and however much, and its text says the same', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 4000 }),
        fc.array(fc.string({ unit: 'binary', maxLength: 400 }), { maxLength: 70 }),
        (title, titles) => {
          const tasks = titles.map((each) => ({ title: each, status: 'complete' as const }));
          const plan = planBlock(title, tasks);
          expect(checkBlocks([plan], 'message', 'plan', 50)).toEqual([]);
          expect(checkBlocks([planText(title, tasks)], 'message', 'text', 50)).toEqual([]);
          expect(plan.type === 'plan' && plan.tasks?.length).toBe(Math.min(MAX_TASKS, tasks.length));
          expect(visible(plan)).not.toMatch(/[\n\u202e]/);
        },
      ),
    );
  });
});

describe('how explanations stand', () => {
  const weighed = (cause: string, end: Hypothesis['end'], pro = 0, contra = 0): Hypothesis => ({
    cause,
    end,
    forIds: Array.from({ length: pro }, (_, n) => asToolCallId(`tc_for${n}aaaaaaaa`)),
    againstIds: Array.from({ length: contra }, (_, n) => asToolCallId(`tc_against${n}aaa`)),
  });
  const standing = (...rounds: (readonly Hypothesis[])[]) =>
    tasksOf(
      live([...begun, ...rounds.map((hypotheses) => found({ origin: 'model', hypotheses })), look('last')]),
    ).filter((task) => task.includes('says Claude'));

  it.each([
    ['is new', [], weighed('a long vacuum', 'open'), 'in_progress: New'],
    ['is new and fits', [], weighed('a long vacuum', 'ruled_in', 1), 'complete: New'],
    ['is ruled out', [], weighed('a long vacuum', 'ruled_out', 0, 1), 'complete: Ruled out'],
    [
      'fits now',
      [weighed('a long vacuum', 'open')],
      weighed('a long vacuum', 'ruled_in', 1),
      'complete: Strengthened',
    ],
    [
      'has more for it',
      [weighed('a long vacuum', 'open', 1)],
      weighed('a long vacuum', 'open', 2),
      'in_progress: Strengthened',
    ],
    [
      'has more against it',
      [weighed('a long vacuum', 'open')],
      weighed('a long vacuum', 'open', 0, 1),
      'in_progress: Weakened',
    ],
    [
      'fits no more',
      [weighed('a long vacuum', 'ruled_in', 1)],
      weighed('a long vacuum', 'open', 1),
      'in_progress: Weakened',
    ],
    [
      'is as it was',
      [weighed('a long vacuum', 'open', 1)],
      weighed('a long vacuum', 'open', 1),
      'in_progress: New',
    ],
    [
      'is open again',
      [weighed('a long vacuum', 'ruled_out', 0, 1)],
      weighed('a long vacuum', 'open'),
      'in_progress: Strengthened',
    ],
  ])('by what the diagnoses on record say of it: %s', (_, before, now, says) => {
    expect(standing(before, [now])).toEqual([`${says}, says Claude: a long vacuum`]);
  });

  it('a hint is new until a diagnosis has weighed it, and is nobody’s word but a person’s', () => {
    const hinted = [...begun, hint('the release of shop-api')];
    expect(tasksOf(live(hinted))).toContain('pending: New: “the release of shop-api”');
    const after = [
      ...hinted,
      found({ origin: 'model', hypotheses: [weighed('the release of shop-api', 'ruled_out', 0, 1)] }),
    ];
    expect(tasksOf(live(after)).filter((task) => task.includes('release'))).toEqual([
      'complete: Ruled out, says Claude: the release of shop-api',
    ]);
  });

  it('a claim that was dropped weakens the explanation that says the same', () => {
    const dropped = { type: 'claim.dropped', claim: 'a long vacuum', reason: 'not read' } as const;
    const tasks = tasksOf(
      live([...begun, found({ origin: 'model', hypotheses: [weighed('a long vacuum', 'open')] }), dropped]),
    );
    expect(tasks).toContain('in_progress: Weakened, says Claude: a long vacuum');
  });

  it('what a runbook ruled out is told as its sentence says it: nothing stands before it that turns it round', () => {
    const hypotheses = [weighed('A slow query is not the cause.', 'ruled_out', 0, 1)];
    expect(tasksOf(live([...begun, found({ origin: 'runbook', hypotheses })]))).toContain(
      'complete: A slow query is not the cause.',
    );
  });
});

describe('the progress message', () => {
  const mustSee: readonly IncidentEventBody[] = [
    {
      type: 'injection.found',
      role: 'detective',
      where: 'output of container_logs',
      kinds: ['override'],
      blocked: true,
    },
    { type: 'record.restored', madeAt: '2026-11-21T09:00:00.000Z' },
    { type: 'claim.dropped', claim: 'the pool is full', reason: 'not read' },
  ];
  const all = ['container_logs', 'restored from a backup', 'the pool is full'];

  it('is one over all rounds, in its place', () => {
    const again = [
      ...wholeIncident.slice(0, 17),
      moved('verifying', 'diagnosing'),
      look('once more'),
      found({}),
      moved('diagnosing', 'reported'),
      hint('look at the disk'),
      moved('reported', 'diagnosing'),
      look('a third time'),
    ];
    for (let length = 2; length <= again.length; length += 1) {
      const names = slotsAfter(again.slice(0, length)).map(({ slot }) => slot);
      expect(names.filter((name) => name.startsWith('live:'))).toEqual(['live:1']);
      expect(names.indexOf('live:1')).toBe(1);
    }
    expect(visible(live([...again, moved('diagnosing', 'reported')])?.blocks)).toMatch(
      /^Investigated 3 times in \d+ s · 3 looks at the live system · almost certain/,
    );
  });

  it.each(['diagnosing', 'reported'] as const)('keeps in sight what nobody may miss: %s', (state) => {
    const events = [
      ...begun,
      ...mustSee,
      ...Array.from({ length: 50 }, (_, n) => look(`look ${n}`)),
      ...(state === 'reported' ? [moved('diagnosing', 'reported')] : []),
    ];
    const slot = live(events, { words: 'x '.repeat(400), investigator: 'claude' });
    for (const blocks of [slot?.blocks, ...(slot?.simpler ? [slot.simpler] : [])])
      for (const part of all) expect(visible(blocks)).toContain(part);
  });

  it('counts what there is more of the same kind', () => {
    const claims = ['a', 'b', 'c'].map((claim) => ({ type: 'claim.dropped', claim, reason: '' }) as const);
    expect(visible(live([...begun, ...claims])?.blocks)).toContain('dropped: “c” (and 2 more)');
  });

  it('says in a word how it ended where no cause is known', () => {
    const over = (changes: Partial<Diagnosis>) =>
      visible(live([...begun, look('x'), found(changes), moved('diagnosing', 'reported')])?.blocks);
    expect(over({ verdict: 'cannot_tell' })).toContain('the cause cannot be told');
    expect(over({ verdict: 'healthy' })).toContain('nothing wrong was seen');
    expect(over({ unexplained: 'why it stopped' })).toContain('what is wrong is clear; why is not');
    expect(over({ verdict: 'cannot_tell' })).not.toContain('certain');
  });

  it('has three of the reads that failed, each with its button, and all of them in the window', () => {
    const calls = Array.from({ length: 5 }, (_, n) =>
      aToolCall({
        id: asToolCallId(`tc_failed${n}aaaaa`),
        state: 'failed',
        code: 'TIMEOUT',
        tool: `postgres_read_${n}`,
        output: 'It took too long. '.repeat(40),
        input: { table: 'x'.repeat(300) },
      }),
    );
    const unread = calls.map(({ id }) => ({ toolCallId: id, way: 'run' as const, reason: 'late' }));
    const record = aRecord({
      incident: anIncident({ state: 'reported' }),
      events: eventsOf(...begun, found({ verdict: 'cannot_tell', unread }), moved('diagnosing', 'reported')),
      toolCalls: calls,
    });
    const blocks = draw(record, options).find(({ slot }) => slot === 'live:1')?.blocks;
    expect(JSON.stringify(blocks).match(/"sentry_read_again"/g)).toHaveLength(3);
    expect(visible(blocks)).toContain('2 more could not be read');
    expect(visible(blocks).length).toBeLessThanOrEqual(520);
    expect(JSON.stringify(diagnosisView(record, 1, options)).match(/"sentry_read_again"/g)).toHaveLength(5);
    expect(JSON.stringify(diagnosisView(record, 1, {}))).not.toContain('sentry_read_again');
  });

  it('stays within its budget and Slack’s limits at every moment, in both forms, whatever the text', () => {
    const texts = fc.oneof(
      fc.constantFrom('<!channel>', '*Approve*\n', '\u202Ex', '', '😀'.repeat(300)),
      fc.string({ unit: 'binary', maxLength: 3000 }),
    );
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 0, max: 20 }), (text, other, many) => {
        const hypotheses = Array.from(
          { length: many },
          (_, n): Hypothesis => ({
            cause: `${other} ${n}`,
            forIds: [],
            againstIds: [],
            end: (['open', 'ruled_in', 'ruled_out'] as const)[n % 3] ?? 'open',
          }),
        );
        const events: readonly IncidentEventBody[] = [
          ...begun,
          { type: 'investigator.fallback', reason: text },
          {
            type: 'injection.found',
            role: 'detective',
            where: text,
            kinds: [other],
            blocked: false,
          },
          ...Array.from({ length: many }, () => look(text, other)),
          { type: 'claim.dropped', claim: text, reason: other },
          { type: 'memory.write.blocked', store: other, path: text, findings: [] },
          found({ origin: 'model', rootCause: text, hypotheses }),
          moved('diagnosing', 'planning'),
          { type: 'action.proposed', actionId: ACTION },
          moved('planning', 'reported'),
          hint(text),
          moved('reported', 'diagnosing'),
          look(other, text),
          found({ origin: 'model', category: 'another', rootCause: other, hypotheses }),
        ];
        for (let length = 1; length <= events.length; length += 1) {
          const prefix = events.slice(0, length);
          for (const slot of slotsAfter(prefix, { words: text, investigator: 'claude' })) {
            if (!/^(live|headsup):/.test(slot.slot)) continue;
            for (const blocks of [slot.blocks, slot.simpler ?? slot.blocks]) {
              const message = messageOf(INCIDENT, { ...slot, blocks });
              expect(checkBlocks(message.blocks, 'message', slot.slot, 50)).toEqual([]);
              expect(visible(blocks).length).toBeLessThanOrEqual(slot.slot === 'live:1' ? 450 : 250);
            }
            expect(slot.text).not.toMatch(/[<>]/);
          }
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('a heads-up', () => {
  const other: Partial<Diagnosis> = {
    category: 'pool_exhausted',
    rootCause: 'The pool of shop-api is full.',
  };
  const headsUp = (events: readonly IncidentEventBody[]): string | null => {
    const slots = slotsAfter([...begun, ...events]).filter(({ slot }) => slot.startsWith('headsup:'));
    expect(slots.length).toBeLessThanOrEqual(1);
    return slots[0] ? visible(slots[0].blocks) : null;
  };
  const proposed: IncidentEventBody = { type: 'action.proposed', actionId: ACTION };

  it('names what it withdraws and what it says now, in a new line', () => {
    expect(headsUp([found(), proposed, found(other)])).toBe(
      'I was wrong: not “pid 4242 holds a lock on "orders" since 10:00 and blocks 5 sessions”. It is “The pool of shop-api is full”.',
    );
  });

  it('marks whose words are a model’s', () => {
    expect(headsUp([found({ origin: 'model' }), proposed, found({ ...other, origin: 'runbook' })])).toMatch(
      /sessions” \(Claude’s words\)\. It is “The pool of shop-api is full”\.$/,
    );
  });

  it('says that what was asked for is withdrawn, where it was', () => {
    const gone: IncidentEventBody = { type: 'action.void', actionId: ACTION, reason: '' };
    expect(headsUp([found(), proposed, gone, found(other)])).toContain('What was asked for is withdrawn.');
    expect(headsUp([found(), proposed, found(other)])).not.toContain('withdrawn');
  });

  it.each<[string, IncidentEventBody]>([
    ['a proposal', proposed],
    ['a decision', { type: 'action.denied', actionId: ACTION, by: 'U0A', reason: '', anotherWay: true }],
    ['a hint', hint('the disk')],
    ['a question', { type: 'question.asked', by: 'U0A', text: 'why?' }],
    ['an answer', { type: 'grade.given', question: 'cause_right', by: 'U0A', answer: true }],
    ['whoever has it', { type: 'incident.acknowledged', by: 'U0A', how: 'taken' }],
  ])('comes after %s, and not when that was before the diagnosis', (_, event) => {
    expect(headsUp([found(), event, found(other)])).toContain('I was wrong');
    expect(headsUp([event, found(), found(other)])).toBeNull();
  });

  it('comes where nobody could act on the last, but on one before it that said the same', () => {
    expect(headsUp([found(), hint('x'), found({ rootCause: 'pid 4242 holds it' }), found(other)])).toContain(
      'I was wrong',
    );
  });

  it('says each change of the verdict in its own words', () => {
    const says = (before: Partial<Diagnosis>, now: Partial<Diagnosis>) =>
      headsUp([found(before), hint('x'), found(now)]);
    expect(says({}, { verdict: 'cannot_tell' })).toMatch(/^I take it back: “pid 4242.*cannot be told now\.$/);
    expect(says({}, { verdict: 'healthy' })).toMatch(
      /^No longer so: “pid 4242.*Nothing wrong is seen now\.$/,
    );
    expect(says({ verdict: 'healthy' }, other)).toMatch(/^I was wrong: something is wrong.*It is “The pool/);
    expect(says({ verdict: 'cannot_tell' }, other)).toMatch(
      /^No longer so: the cause could not.*It is “The p/,
    );
    expect(says({ verdict: 'healthy' }, { verdict: 'cannot_tell' })).toMatch(/^I take it back: that nothing/);
  });

  it('does not come for what is there again after its end: that has a line of its own', () => {
    expect(
      headsUp([
        found(),
        proposed,
        moved('verifying', 'resolved'),
        moved('resolved', 'diagnosing'),
        found(other),
      ]),
    ).toBeNull();
  });

  it.each([
    ['other words, numbers and ages', { rootCause: 'A lock on "orders" is held by session 99 for 17 min.' }],
    [
      'more of the same',
      { rootCause: 'pid 4242 holds a lock on "orders" since 10:00 and blocks 9 sessions.' },
    ],
    ['no kind, but the same thing', { category: null, rootCause: 'The lock on "orders" is not given back.' }],
  ])('does not come for the same cause in %s', (_, now) => {
    expect(headsUp([found(), proposed, found(now)])).toBeNull();
  });

  it.each([
    ['another kind', { category: 'disk_full' }],
    ['the same kind of another thing', { rootCause: 'pid 4242 holds a lock on "customers".' }],
    ['no kind, and another thing', { category: null, rootCause: 'shop-api leaks connections' }],
  ])('comes for %s', (_, now) => {
    expect(headsUp([found(), proposed, found({ rootCause: 'x', ...now })])).not.toBeNull();
  });
});

describe('the evidence', () => {
  it('of every look is reachable from every other, and whole', () => {
    const record = aRecord({
      events: eventsOf(
        found({ rootCause: 'first' }),
        found({ rootCause: 'second' }),
        found({ rootCause: 'third' }),
      ),
    });
    const view = (number: number) => JSON.stringify(diagnosisView(record, number));
    expect(view(3)).toContain('third');
    expect([...view(3).matchAll(/"value":"(INC-7:\d)"/g)].map(([, value]) => value)).toEqual([
      'INC-7:1',
      'INC-7:2',
    ]);
    expect(view(1)).toContain('Look 3, the newest');
    expect(diagnosisView(record, 4)).toBeNull();
  });
});
