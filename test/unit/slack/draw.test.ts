import { describe, expect, it } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { DrawOptions, Slot } from '../../../src/slack/views/blocks/slot.ts';
import { diagnosisView, stepsView } from '../../../src/slack/views/record-views.ts';
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

const options: DrawOptions = {
  threadUrl: (id) => `https://example.slack.com/archives/C0/${id}`,
  approvers: 'the group @oncall',
};

const drawn = (changes: Parameters<typeof aRecord>[0], extra: Partial<DrawOptions> = {}): readonly Slot[] =>
  draw(aRecord(changes), { ...options, ...extra });
const names = (slots: readonly Slot[]): readonly string[] => slots.map((slot) => slot.slot);
/** As a Slack that knows all blocks shows it. */
const shown = (slots: readonly Slot[], name: string): string =>
  JSON.stringify({ ...slots.find((slot) => slot.slot === name), simpler: undefined });
const buttonsOf = (slots: readonly Slot[], name: string): readonly string[] =>
  [...shown(slots, name).matchAll(/"action_id":"(\w+)"/g)].map((match) => match[1] ?? '');

const called = (
  changes: Partial<Extract<IncidentEventBody, { type: 'person.called' }>> = {},
): IncidentEventBody => ({
  type: 'person.called',
  level: 1,
  reason: 'unsolved',
  mentions: [],
  names: [],
  pagers: [],
  problem: null,
  ...changes,
});

describe('the thread of an incident', () => {
  it('stands in the order things happened', () => {
    const slots = drawn({
      incident: anIncident({ state: 'resolved', verdict: 'fixed' }),
      events: eventsOf(...wholeIncident),
    });
    expect(names(slots)).toEqual(['root', 'live:1', `action:${ACTION}`, 'summary:1']);
    expect(slots.map((slot) => slot.inThread)).toEqual([false, true, true, true]);
  });

  it('says that no target fits, with the line to add, and lets no label break out of its box', () => {
    const opened = { type: 'incident.opened', source: 'alertmanager', title: 'x' } as const;
    const about = (labels: Record<string, string>, event = eventsOf(opened)) =>
      drawn({ incident: anIncident({ target: null, labels }), events: event });
    const [root] = about({ instance: 'db1:5432' });
    expect(JSON.stringify(root?.blocks)).toContain(
      JSON.stringify({ type: 'text', text: 'aliases: [db1]', style: { code: true } }),
    );
    const [hostile] = about({ instance: '``` <!channel> <@U1>' });
    expect(JSON.stringify(hostile?.blocks)).toContain('No target fits');
    expect(JSON.stringify(hostile?.blocks)).not.toMatch(/"type":"(user|broadcast|link)"/);
    // Cut it would be no line to copy.
    expect(shown(about({ instance: 'x'.repeat(190) }), 'root')).toContain('let its rule set a label');
    expect(shown(about({ severity: 'page' }), 'root')).toContain('let its rule set a label');
    const hand = about({ instance: 'a' }, eventsOf({ ...opened, source: 'hand' }));
    for (const slots of [hand, drawn({ events: eventsOf(opened) })])
      expect(JSON.stringify(slots)).not.toContain('No target fits');
    expect(names(about({ instance: 'a' }))).not.toContain('no-target');
  });

  it('never renames, reorders or drops a message while the record grows', () => {
    let before: readonly string[] = [];
    for (let length = 1; length <= wholeIncident.length; length += 1) {
      const now = names(drawn({ events: eventsOf(...wholeIncident.slice(0, length)) }));
      expect(now.slice(0, before.length), `after event ${length}`).toEqual(before);
      before = now;
    }
  });

  it('offers no approval while what it would change is stopped, says by whom, and offers it again on resume', () => {
    const card = (...events: IncidentEventBody[]) =>
      drawn({
        incident: anIncident({ state: 'awaiting_approval' }),
        actions: [anAction({ state: 'proposed', decidedBy: null })],
        events: eventsOf(...wholeIncident.slice(0, asked), ...events),
      });
    const asked = wholeIncident.findIndex(({ type }) => type === 'action.proposed') + 1;
    const stopped = {
      type: 'switch.set',
      scope: '*',
      by: 'UADMIN',
      reason: 'a migration',
      until: null,
    } as const;
    const name = `action:${ACTION}`;
    expect(buttonsOf(card(), name)).toContain('sentry_approve');
    expect(buttonsOf(card(stopped), name)).toEqual(
      buttonsOf(card(), name).filter((id) => id !== 'sentry_approve'),
    );
    expect(shown(card(stopped), name)).toContain('a migration');
    expect(buttonsOf(card(stopped, { ...stopped, type: 'switch.cleared' }), name)).toContain(
      'sentry_approve',
    );
  });

  it('offers an approval whatever held up another plan before it was asked for', () => {
    const slots = drawn({
      incident: anIncident({ state: 'awaiting_approval' }),
      actions: [
        anAction({ state: 'proposed', decidedBy: null }),
        anAction({ id: asActionId('act_bbbbbbbbbbbb'), state: 'void', heldBy: 'Stopped.', beside: true }),
      ],
      events: eventsOf(
        { type: 'switch.set', scope: '*', by: 'UADMIN', reason: '', until: null },
        ...wholeIncident.slice(0, wholeIncident.findIndex(({ type }) => type === 'action.proposed') + 1),
      ),
    });
    expect(buttonsOf(slots, `action:${ACTION}`)).toContain('sentry_approve');
  });

  it('offers no approval of a stopped incident, and says who stopped it', () => {
    const card = (beside: boolean) =>
      drawn({
        incident: anIncident({ state: 'stopped', stoppedFrom: 'awaiting_approval' }),
        actions: [anAction({ state: 'proposed', decidedBy: null, beside })],
        events: eventsOf(
          ...wholeIncident.slice(0, wholeIncident.findIndex(({ type }) => type === 'action.proposed') + 1),
          { type: 'incident.stopped', by: 'USTOPPER', reason: '' },
        ),
      });
    const name = `action:${ACTION}`;
    expect(buttonsOf(card(false), name)).not.toContain('sentry_approve');
    expect(shown(card(false), name)).toContain('USTOPPER');
    // An undo that somebody asked for since then.
    expect(buttonsOf(card(true), name)).toContain('sentry_approve');
  });

  it('says a limit with its time wherever it says it, leaves nothing to people meanwhile, and drops it once it asks', () => {
    const at = '2026-11-22T20:06:00.000Z';
    const limit = 'At most 1 restart of shop-worker in 10 minutes.';
    const limited: IncidentEventBody[] = [
      { type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis() },
      { type: 'plan.none', reason: limit, asksAgainAt: at },
    ];
    const incident = anIncident({ state: 'reported', nextStep: limit, asksAgainAt: at });
    const waiting = drawn({ incident, events: eventsOf(...limited), actions: [] });
    const evidence = (events: readonly IncidentEventBody[], actions = [anAction({ state: 'proposed' })]) =>
      JSON.stringify(diagnosisView(aRecord({ incident, events: eventsOf(...events), actions }), 1));
    for (const text of [shown(waiting, 'root'), evidence(limited)])
      expect(text).toMatch(/At most 1 restart[^]*It may be done again at/);
    expect(shown(waiting, 'root')).not.toMatch(/over to you/i);
    expect(shown(drawn({ incident: { ...incident, asksAgainAt: null } }), 'root')).toMatch(/over to you/i);
    const asked = drawn({
      incident: anIncident({ state: 'awaiting_approval' }),
      events: eventsOf(...limited, { type: 'action.proposed', actionId: ACTION }),
      actions: [anAction({ state: 'proposed' })],
    });
    expect(shown(asked, `action:${ACTION}`)).toContain('sentry_approve');
    expect(evidence(limited)).toContain('No action is proposed');
    expect(evidence([...limited, { type: 'action.proposed', actionId: ACTION }])).not.toContain(
      'No action is proposed',
    );
  });

  it('goes on in the one progress message when the cause is looked for again, and says in a new line what it takes back', () => {
    const again: IncidentEventBody[] = [
      ...wholeIncident.slice(0, 17),
      { type: 'verification.concluded', round: 1, verdict: 'not_fixed', reason: 'Still blocked.' },
      { type: 'state.changed', from: 'verifying', to: 'diagnosing', reason: 'not fixed' },
      {
        type: 'tool.called',
        toolCallId: aRecord().toolCalls[0]!.id,
        role: 'detective',
        tool: 'pg_locks',
        purpose: null,
        state: 'ok',
        summary: '1 lock',
      },
      {
        type: 'diagnosis.concluded',
        round: 2,
        diagnosis: aDiagnosis({ category: 'pool_exhausted', rootCause: 'the pool is full' }),
      },
    ];
    const slots = drawn({ incident: anIncident({ round: 2 }), events: eventsOf(...again) });
    expect(names(slots).at(-1)).toBe('headsup:2');
    expect(names(slots).join(' ')).not.toMatch(/verification|summary/);
    expect(shown(slots, 'headsup:2')).toMatch(/I was wrong:.*not “pid 4242 holds.*It is “the pool is full”/);
    // Of what is under way this round alone.
    expect(shown(slots, 'live:1')).toContain('pg_locks');
    expect(shown(slots, 'live:1')).not.toContain('who blocks whom');
  });
});

describe('the root', () => {
  it('turns green when the incident is resolved', () => {
    const [working] = drawn({});
    const [done] = drawn({
      incident: anIncident({
        state: 'resolved',
        verdict: 'fixed',
        resolvedBy: 'confirmed',
        endedAt: '2026-11-21T10:04:10Z',
      }),
    });
    const [over] = drawn({ incident: anIncident({ state: 'resolved', resolvedBy: 'source' }) });
    expect(over?.strip).toMatchObject({ color: '#868686', text: expect.stringContaining('source says so') });
    expect(working?.strip?.color).not.toBe('#2eb67d');
    expect(done?.strip).toEqual({
      color: '#2eb67d',
      text: 'Resolved · fixed, and checked · after 4 min 10 s',
    });
    expect(JSON.stringify(done?.blocks)).toContain('🟢');
  });

  it('says what is wrong, where, since when, how often and what is next', () => {
    const [root] = drawn({
      incident: anIncident({
        occurrences: 3,
        cause: 'a lock',
        confidence: 0.95,
        nextStep: 'approve the card',
      }),
    });
    const text = JSON.stringify(root?.blocks);
    for (const part of [
      'sessions are blocked',
      'critical',
      'shop-db',
      'seen 3 times',
      'a lock',
      'almost certain, 95 %',
      'approve the card',
    ])
      expect(text).toContain(part);
    expect(root?.text).toContain('INC-7');
  });
});

describe('the root in few words', () => {
  it('says what the alert says, and nothing of what is as usual', () => {
    const [root] = drawn({
      incident: anIncident({ title: 'PostgresBlockedSessions', annotations: { summary: 'Checkouts hang' } }),
    });
    const text = JSON.stringify(root?.blocks);
    expect(text).toContain('Checkouts hang');
    expect(text).not.toMatch(/seen once|cost/);
  });

  it('does not say the same twice', () => {
    const same = { title: 'Checkouts hang', annotations: { summary: 'Checkouts hang' } };
    const [root] = drawn({ incident: anIncident(same) });
    expect(JSON.stringify(root?.blocks).match(/Checkouts hang/g)).toHaveLength(1);
  });
});

describe('the progress message', () => {
  const call = (role: 'detective' | 'surgeon' | 'validator', purpose: string): IncidentEventBody => ({
    type: 'tool.called',
    toolCallId: aRecord().toolCalls[0]!.id,
    role,
    tool: 'pg_locks',
    purpose,
    state: 'ok',
    summary: 'nobody waits',
  });

  it('counts the time and the looks until the diagnosis, not what people took to decide', () => {
    const events = eventsOf(
      ...wholeIncident.slice(0, 16),
      ...Array.from({ length: 30 }, () => call('validator', 'verify: the lock is gone')),
      ...wholeIncident.slice(16),
    );
    const slots = drawn({ incident: anIncident({ state: 'resolved' }), events });
    const live = shown(slots, 'live:1');
    expect(live).toContain('Investigated in 6 s · 1 look at the live system · almost certain"');
    expect(live).not.toContain('verify:');
    expect(buttonsOf(slots, 'live:1')).toEqual(['sentry_steps', 'sentry_diagnosis']);
  });

  it('says what a look was for and what it showed, and leaves what was run to its own message', () => {
    const events = eventsOf(...wholeIncident.slice(0, 12), call('surgeon', 'the approved action'));
    const live = shown(drawn({ events }), 'live:1');
    expect(live).toContain('“who blocks whom”');
    expect(live).not.toContain('the approved action');
  });

  it('says seen before once, though memory is asked twice', () => {
    const recalled = wholeIncident[3]!;
    const events = eventsOf(...wholeIncident.slice(0, 6), recalled, ...wholeIncident.slice(6));
    const slots = drawn({ events });
    expect(
      JSON.stringify(slots.find(({ slot }) => slot === 'live:1')?.blocks).match(/Seen before/g),
    ).toHaveLength(1);
  });

  it('links the incident this was seen in before among its steps', () => {
    const steps = JSON.stringify(
      stepsView(aRecord({ events: eventsOf(...wholeIncident.slice(0, 7)) }), null, options),
    );
    expect(steps).toContain('https://example.slack.com/archives/C0/INC-3');
    expect(steps).toContain('Seen before');
  });

  it('shows the words being spoken, and only while somebody works', () => {
    const events = eventsOf(...wholeIncident.slice(0, 7));
    const spoken = { words: 'I am looking at pid 4242 becau' };
    expect(shown(drawn({ incident: anIncident(spoken), events }), 'live:1')).toContain('pid 4242 becau');
    expect(
      shown(drawn({ incident: anIncident({ ...spoken, state: 'reported' }), events }), 'live:1'),
    ).not.toContain('pid 4242 becau');
  });

  it.each(['diagnosing', 'reported'] as const)(
    'says that the playbook goes on when the model failed: %s',
    (state) => {
      const events = eventsOf(...wholeIncident.slice(0, 6), {
        type: 'investigator.fallback',
        reason: '529 overloaded',
      });
      expect(shown(drawn({ incident: anIncident({ state }), events }), 'live:1')).toMatch(
        /the playbook goes on.*529 overloaded/,
      );
    },
  );

  it('shows the newest of many steps, and all of them one press away', () => {
    const events = eventsOf(
      ...wholeIncident.slice(0, 6),
      ...Array.from({ length: 40 }, (_, n) => call('detective', `look ${n}`)),
    );
    const slots = drawn({ events });
    expect(shown(slots, 'live:1')).toContain('look 39');
    expect(shown(slots, 'live:1')).not.toContain('look 3”');
    expect(buttonsOf(slots, 'live:1')).toEqual(['sentry_steps']);
    const steps = JSON.stringify(stepsView(aRecord({ events }), null, options));
    for (const n of [0, 3, 39]) expect(steps).toContain(`“look ${n}”`);
  });
});

describe('the evidence of a diagnosis', () => {
  it('claims no cause where the why is not known, and no number stands beside it', () => {
    const card = diagnosed({
      rootCause: 'shop-worker does not run.',
      unexplained: 'why shop-worker stopped',
    });
    expect(card).toContain('"text":"What is wrong is clear; why is not"');
    expect(card).toContain('Why shop-worker stopped.');
    expect(card).not.toMatch(/Cause found|almost certain/);
    expect(diagnosed({})).toContain('Cause found · almost certain, 95 %');
  });

  it('names the moment that its ages are of, here and on the root', () => {
    const record = aRecord({
      incident: anIncident({ cause: 'idle for 11 s' }),
      events: eventsOf({ type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis() }),
    });
    for (const shown of [draw(record, options)[0], diagnosisView(record, 1)])
      expect(JSON.stringify(shown)).toMatch(/\(as of "\},\{"type":"date"/);
  });

  it('quotes a line once, under all that it shows', () => {
    const claims = ['It blocks 5.', 'It is idle.'].map((claim) => ({
      claim,
      toolCallIds: [CALL],
      quote: 'pid 4242 | idle',
    }));
    const card = diagnosed({
      evidence: [...claims, { claim: 'Another.', toolCallIds: [CALL], quote: 'pid 1' }],
    });
    expect(card.match(/“pid 4242 \| idle”/g)).toHaveLength(1);
    expect(card).toContain('It blocks 5. It is idle.');
    expect(card).toContain('“pid 1”');
  });

  const diagnosed = (changes: Parameters<typeof aDiagnosis>[0]): string =>
    JSON.stringify(
      diagnosisView(
        aRecord({
          events: eventsOf({ type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis(changes) }),
        }),
        1,
      ),
    );

  it('says how sure it is of a cause, and gives no number where there is none', () => {
    expect(diagnosed({})).toContain('Cause found · almost certain, 95 %');
    for (const verdict of ['cannot_tell', 'healthy'] as const)
      expect(diagnosed({ verdict, confidence: 0 })).not.toContain('%');
  });

  it('has the line that shows each claim under it, and the whole output one press away', () => {
    const text = diagnosed({});
    expect(text).toContain('sentry_output');
    expect(text).toContain('pid 4242 blocks 5 others\\n“pid 4242”');
    const long = [{ claim: 'c'.repeat(700), toolCallIds: [CALL], quote: 'pid 4242' }];
    expect(diagnosed({ evidence: long })).toContain('c'.repeat(700));
  });

  it('says whose words a model’s are, and what else was weighed', () => {
    const text = diagnosed({
      origin: 'model',
      fixConfidence: 0.6,
      hypotheses: [
        { cause: 'pid 4242 holds the lock', forIds: [CALL], againstIds: [], end: 'ruled_in' },
        { cause: 'a long vacuum', forIds: [], againstIds: [CALL], end: 'ruled_out' },
      ],
      onset: '2026-11-21T09:58:00.000Z',
      chain: ['an update without commit', 'a lock', 'checkouts wait'],
      symptomNow: { present: true, toolCallId: CALL },
      doubleCheck: { cause: null, dropped: 0, reason: 'it took too long' },
    });
    for (const part of [
      'All of this is in Claude’s words',
      'the fix: possible, 60 %',
      'ruled out: a long vacuum (1 read against it)',
      'an update without commit',
      'There now: ',
      'Wrong if',
      'Claude suggests',
      'Not double-checked: it took too long.',
    ])
      expect(text).toContain(part);
  });

  it('says what the playbook looked at too as it stands, without a mark that turns it round', () => {
    const says = 'A slow query is not the cause.';
    const hypotheses = [
      { cause: 'pid 4242 holds the lock', forIds: [CALL], againstIds: [], end: 'ruled_in' },
      { cause: says, forIds: [], againstIds: [CALL], end: 'ruled_out' },
    ] as const;
    const record = aRecord({
      incident: anIncident({ state: 'resolved', resolvedBy: 'confirmed', cause: 'pid 4242 holds the lock' }),
      events: eventsOf({ type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis({ hypotheses }) }),
    });
    for (const text of [JSON.stringify(draw(record, options)[0]), JSON.stringify(diagnosisView(record, 1))]) {
      expect(text).toContain('Looked at too');
      expect(text).toContain(says);
      expect(text).not.toMatch(/[✗✓]|against it|ruled out/);
    }
  });

  it('shows both sides of a disagreement, each with what it stands on', () => {
    const side = (says: string, verdict: 'cause_found' | 'healthy', quote: string) => ({
      verdict,
      says,
      confidence: 0.95,
      evidence: [{ claim: `${says} indeed`, toolCallIds: [CALL], quote }],
    });
    const text = diagnosed({
      origin: 'model',
      verdict: 'cannot_tell',
      rootCause: 'The runbook’s check of the live system and Claude do not agree on the cause.',
      disagreement: {
        runbook: side('pid 4242 blocks 5', 'cause_found', 'pid 4242'),
        model: side('All is well', 'healthy', 'all green'),
      },
    });
    for (const part of [
      'The runbook’s check',
      'pid 4242 blocks 5',
      'Claude · Nothing wrong was seen',
      'All is well',
      '“all green”',
    ])
      expect(text).toContain(part);
  });
});

describe('the approval card', () => {
  const events = eventsOf(...wholeIncident.slice(0, 10));
  const card = (changes: Parameters<typeof anAction>[0] = {}): readonly Slot[] =>
    drawn({ events, actions: [anAction(changes)] });

  it('says how many have approved of how many, and who', () => {
    const slots = card({ approvalsNeeded: 2, approvedBy: ['U0ONCALL'] });
    expect(shown(slots, `action:${ACTION}`)).toContain('1 of 2');
    expect(shown(slots, `action:${ACTION}`)).toContain('"user_id":"U0ONCALL"');
    expect(shown(slots, `action:${ACTION}`)).toContain('; one more');
    const done = card({
      state: 'approved',
      approvalsNeeded: 2,
      approvedBy: ['U0ONCALL', 'U0SECOND'],
      decidedBy: 'U0SECOND',
    });
    for (const user of ['U0ONCALL', 'U0SECOND']) expect(shown(done, `action:${ACTION}`)).toContain(user);
  });

  it('says when it runs by itself, by which rule, and leaves the buttons', () => {
    const slots = card({ autonomousAt: '2026-11-21T10:05:00.000Z', policyRule: 'vacuum' });
    expect(shown(slots, `action:${ACTION}`)).toContain('Runs by itself at ');
    expect(shown(slots, `action:${ACTION}`)).toContain('“vacuum”');
    expect(buttonsOf(slots, `action:${ACTION}`)).toEqual([
      'sentry_approve',
      'sentry_deny',
      'sentry_evidence',
      'sentry_card_more',
    ]);
    const ran = card({ state: 'succeeded', decidedBy: 'policy', decidedAt: '2026-11-21T10:05:00.000Z' });
    expect(shown(ran, `action:${ACTION}`)).toContain('the policy');
    expect(shown(ran, `action:${ACTION}`)).not.toContain('"user_id":"policy"');
    expect(shown(ran, 'root')).not.toContain('"user_id":"policy"');
  });
  const name = `action:${ACTION}`;

  it('shows the exact command, literally, and everything a decision needs', () => {
    const command = 'SELECT 1 -- *bold* <!channel> & `x` ```';
    const slots = card({ command });
    const block = slots.find((slot) => slot.slot === name)?.blocks;
    expect(JSON.stringify(block)).toContain(
      JSON.stringify({ type: 'plain_text', text: command, emoji: false }),
    );
    for (const part of [
      'shop-db',
      'one session',
      'cannot be undone',
      'idle in transaction',
      'medium',
      '@oncall',
      'everybody waits for',
    ])
      expect(shown(slots, name)).toContain(part);
  });

  it('names act, target and command where a client draws no rich text, too [L6]', () => {
    const drawn = card().find(({ slot }) => slot === name)?.simpler ?? [];
    const types = drawn.map(({ type }) => type);
    expect(types).not.toContain('container');
    expect(types.indexOf('section')).toBeLessThan(types.indexOf('actions'));
    const plainly = drawn.filter(({ type }) => type !== 'rich_text');
    const { command, target } = anAction();
    expect(plainly.find(({ type }) => type === 'header')).toMatchObject({
      text: { text: expect.stringContaining(target) },
    });
    expect(plainly).toContainEqual({
      type: 'section',
      text: { type: 'mrkdwn', text: `\`\`\`\n${command}\n\`\`\``, verbatim: true },
    });
  });

  it.each([
    ['SELECT 1 < 2 && <!channel>', 'SELECT 1 &lt; 2 &amp;&amp; &lt;!channel&gt;'],
    ['echo `id` :fire: *x*`', 'echo `id` :fire: *x*`'],
    // Together only once the mark between them is gone.
    ['echo `\u202a`` <!channel>', null],
  ])('no command leaves its box or mentions anybody: %s', (command, boxed) => {
    const box = boxed === null ? '"plain_text","text":"echo ```' : JSON.stringify(`\`\`\`\n${boxed}\n\`\`\``);
    expect(shown(card({ command }), name)).toContain(box);
  });

  it('a command too long for its box once it is escaped is whole all the same', () => {
    const command = 'a && '.repeat(500).trim();
    expect(shown(card({ command }), name)).toContain(JSON.stringify(command));
  });

  it('carries nothing in its buttons but the action and the plan seen', () => {
    const values = [...shown(card(), name).matchAll(/"value":"([^"]+)"/g)].map((match) => match[1]);
    const plan = `${ACTION}:${'a'.repeat(64)}`;
    expect(values).toEqual([plan, plan, ACTION, `another:${plan}`, `why:${plan}`, `hand:${plan}`]);
  });

  it('has its buttons before what it rests on, which is folded, and after the statement of what is dangerous', () => {
    const command = 'SELECT pg_terminate_backend(4242)';
    const typesOf = (changes: Parameters<typeof anAction>[0]) =>
      (card({ command, ...changes }).find(({ slot }) => slot === name)?.blocks ?? []).map((block) =>
        block.type !== 'header' && JSON.stringify(block).includes(command)
          ? `${block.type} with it`
          : block.type,
      );
    expect(typesOf({})).toEqual(['header', 'rich_text', 'rich_text', 'actions', 'container with it']);
    expect(typesOf({ risk: 'high' })).toEqual([
      'header',
      'rich_text',
      'section with it',
      'rich_text',
      'actions with it',
      'container with it',
    ]);
    const [container] =
      card()
        .find(({ slot }) => slot === name)
        ?.blocks.slice(-1) ?? [];
    expect(container).toMatchObject({ is_collapsible: true, default_collapsed: true });
    for (const part of ['Seen just before', 'Risk: ', 'Why'])
      expect(JSON.stringify(container)).toContain(part);
  });

  it('says above the buttons that what is dangerous goes on, and has all of it below them', () => {
    const command = `SELECT ${'x'.repeat(400)}`;
    const [, , box, note, , , container] =
      card({ risk: 'high', command }).find(({ slot }) => slot === name)?.blocks ?? [];
    expect(JSON.stringify(box)).not.toContain(command);
    expect(JSON.stringify(note)).toContain('before you decide');
    expect(JSON.stringify(container)).toContain(command);
  });

  it('says whether what ran has helped, as it was seen after it, and no more once it is looked into anew', () => {
    const ran = anAction({ state: 'succeeded', decidedBy: 'U0ONCALL' });
    const at = (state: 'verifying' | 'diagnosing', ...more: readonly IncidentEventBody[]) =>
      shown(
        drawn({
          incident: anIncident({ state }),
          actions: [ran],
          events: eventsOf(
            ...wholeIncident.slice(0, 11),
            { type: 'action.finished', actionId: ACTION, outcome: 'succeeded', text: 'true' },
            ...more,
          ),
        }),
        name,
      );
    const checked = {
      type: 'verification.checked',
      round: 1,
      holds: false,
      lines: ['✗ 5 sessions wait'],
    } as const;
    const verdict = {
      type: 'verification.concluded',
      round: 1,
      verdict: 'not_fixed',
      reason: '5 still wait',
    } as const;
    const left = { type: 'state.changed', from: 'verifying', to: 'diagnosing', reason: 'again' } as const;
    expect(at('verifying')).toContain('Checking on the live system that it is really gone');
    expect(at('verifying', checked)).toContain('not yet as it should be: ✗ 5 sessions wait');
    const told = '✗ It ran, and the problem is still there: 5 still wait';
    expect(at('verifying', checked, verdict)).toContain(told);
    expect(at('diagnosing', checked, verdict, left)).toContain(told);
    expect(at('diagnosing', checked, left)).not.toContain('Checking');
    const later = { ...verdict, reason: 'of another round' };
    expect(at('diagnosing', checked, verdict, left, later)).not.toContain('of another round');
  });

  it('mentions whom something critical waits for, while it waits', () => {
    const ring = ['S0ONCALL', 'U0ONCALL'];
    const [, ...open] = drawn({ events, actions: [anAction()] }, { ring });
    const asked = open.find((slot) => slot.slot === name);
    expect(asked?.text).toMatch(/^<!subteam\^S0ONCALL> <@U0ONCALL> INC-7 asks: /);
    expect(JSON.stringify(asked?.blocks)).toContain('"usergroup_id":"S0ONCALL"');
    const over = drawn({ events, actions: [anAction({ state: 'expired' })] }, { ring });
    expect(shown(over, name)).not.toContain('S0ONCALL');
  });

  it('asks once more about the whole statement, or says where it is: a piece is another one', () => {
    const confirmOf = (command: string) =>
      /"confirm":\{.*?"text":\{"type":"plain_text","text":"([^"]*)"/.exec(
        shown(card({ risk: 'high', command }), name),
      )?.[1];
    expect(confirmOf('SELECT 1')).toBe('On shop-db: SELECT 1');
    expect(confirmOf(`SELECT ${'x'.repeat(400)}`)).toBe(
      'On shop-db: exactly the statement on the card; all of it is in Details.',
    );
  });

  it('asks once more before a high risk', () => {
    expect(shown(card({ risk: 'high' }), name)).toMatch(/"style":"danger".*"confirm"/);
    expect(shown(card(), name)).not.toContain('"confirm"');
  });

  it.each([
    ['in audit mode', { auditOnly: true }, 'Would propose'],
    ['once approved', { state: 'approved', decidedBy: 'U0ONCALL' }, 'approved by '],
    ['once denied', { state: 'denied', decidedBy: 'U0ONCALL', decisionReason: 'too risky' }, 'too risky'],
    ['once expired', { state: 'expired' }, 'nobody decided in time'],
    ['once void', { state: 'void', outcome: 'the pid is gone' }, 'the pid is gone'],
    ['when it is unknown whether it ran', { state: 'unknown', decidedBy: 'U0ONCALL' }, 'Unknown whether'],
    ['when it ran', { state: 'succeeded', decidedBy: 'U0ONCALL', outcome: 'true' }, 'U0ONCALL'],
  ] as const)('has no Approve and no Deny %s', (_when, changes, says) => {
    const slots = card(changes);
    expect(buttonsOf(slots, name)).toEqual(['sentry_evidence']);
    expect(shown(slots, name)).toContain(says);
  });

  it('says so when nobody may approve', () => {
    expect(shown(drawn({ events }, { approvers: null }), name)).toContain('Nobody is configured');
  });
});

it('who asked for another way and gets none is told what can be done next', () => {
  const asked = (state: 'reported' | 'diagnosing') =>
    shown(
      drawn({
        incident: anIncident({ state, nextStep: 'A hint in the thread has it looked at again.' }),
        events: eventsOf(
          { type: 'action.proposed', actionId: ACTION },
          { type: 'action.denied', actionId: ACTION, by: 'UNOAH', reason: '', anotherWay: true },
          { type: 'plan.none', reason: 'The runbook names no other.' },
        ),
      }),
      'no-plan:1',
    );
  expect(asked('reported')).toMatch(/Next: .*A hint in the thread/);
  expect(asked('diagnosing')).not.toContain('Next: ');
});

describe('the end', () => {
  it('mentions the on-call group in the escalation, and nowhere else', () => {
    const events = eventsOf(
      ...wholeIncident.slice(0, 17),
      {
        type: 'incident.escalated',
        reason: 'three tries',
      },
      called({ mentions: ['S0ONCALL'] }),
    );
    const slots = drawn({ incident: anIncident({ state: 'escalated' }), events });
    const calling = slots.filter((slot) => JSON.stringify(slot).includes('S0ONCALL'));
    expect(names(calling)).toEqual(['call:19']);
    expect(calling[0]?.text).toBe(
      '<!subteam^S0ONCALL> I cannot fix this: it is yours. three tries. INC-7 · critical · shop-db: sessions are blocked on shop-db',
    );
    expect(buttonsOf(slots, 'call:19')).toEqual(['sentry_take']);
  });

  it('tells somebody who approved that nothing ran when the state had moved', () => {
    const events = eventsOf(...wholeIncident.slice(0, 12), {
      type: 'action.void',
      actionId: ACTION,
      reason: 'the pid is another session now',
    });
    const slots = drawn({ events, actions: [anAction({ state: 'void', decidedBy: 'U0ONCALL' })] });
    expect(shown(slots, `action:${ACTION}`)).toContain('Not done, called off: ');
    expect(shown(slots, `action:${ACTION}`)).toContain('the pid is another session now');
  });
});
