import { describe, expect, it } from 'vitest';
import type { Doubt } from '../../../src/agents/ports.ts';
import { describeChange } from '../../../src/core/describe-changes.ts';
import type { Diagnosis } from '../../../src/core/diagnosis.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asToolCallId } from '../../../src/core/ids.ts';
import { toldChanges } from '../../../src/core/told-changes.ts';
import type { Json, ToolCall } from '../../../src/core/tool-call.ts';
import { OWN_LOOK, type RelatedChange, type WhatChanged } from '../../../src/core/what-changed.ts';
import { doubleChecked } from '../../../src/incidents/claims/double-check.ts';
import { checkEvidence } from '../../../src/incidents/claims/evidence.ts';
import { objectionsTo } from '../../../src/incidents/objections.ts';
import { aDiagnosis, anIncident, aToolCall, eventsOf } from '../../support/incident-record.ts';

const BEGAN = Date.parse('2026-11-21T10:00:00.000Z');
const ASKED = asToolCallId('tc_asked0000000');
const LIVE = asToolCallId('tc_live00000000');
const OTHER = asToolCallId('tc_other0000000');
const minutesBefore = (minutes: number): string => new Date(BEGAN - minutes * 60_000).toISOString();

function aChange(ref: string, given: Partial<RelatedChange> = {}): RelatedChange {
  const { beforeMs = 180_000 } = given;
  return {
    ref,
    source: 'generic',
    id: ref,
    kind: 'deployment',
    state: 'succeeded',
    title: 'shop-api 1.4.2 deployed',
    where: ['shop-api', 'shop-db'],
    environment: null,
    startedAt: null,
    at: minutesBefore(beforeMs / 60_000),
    by: 'olivia',
    from: '1.4.1',
    to: '1.4.2',
    commits: [],
    url: null,
    touches: 'it',
    through: 'shop-db',
    when: beforeMs < 0 ? 'after' : 'before',
    beforeMs,
    ...given,
  };
}

const DEPLOY = aChange('c1');
const SETTING = aChange('c2', {
  kind: 'config',
  title: 'statement_timeout of shop-db: 30s → 5min',
  where: ['shop-db'],
  from: '30s',
  to: '5min',
  beforeMs: 600_000,
});
const LATER = aChange('c3', { title: 'shop-api 1.4.3 deployed', to: '1.4.3', beforeMs: -240_000 });

function found(suspects: readonly RelatedChange[], afterwards: readonly RelatedChange[] = []): WhatChanged {
  return {
    answer: suspects.length > 0 ? 'changed' : 'nothing',
    from: minutesBefore(120),
    to: minutesBefore(-10),
    beganAt: minutesBefore(0),
    suspects,
    afterwards,
    others: 0,
    looked: [],
    couldNotLook: [],
  };
}

const asked = (answer: WhatChanged, more: Partial<ToolCall> = {}): ToolCall =>
  aToolCall({
    id: ASKED,
    tool: 'what_changed',
    target: null,
    output: [...answer.suspects, ...answer.afterwards]
      .map((change) => `${change.ref} ${describeChange(change)} · of ${change.through} itself`)
      .join('\n'),
    result: answer as unknown as Json,
    ...more,
  });

/** What the system shows: sessions of the new version wait. */
const WAITS = 'shop-api/1.4.2 has 12 sessions, 9 of them wait for a lock on orders';
const live = (output = WAITS, more: Partial<ToolCall> = {}): ToolCall =>
  aToolCall({ id: LIVE, tool: 'postgres_activity', output, result: null, ...more });

const CAUSE = 'shop-api 1.4.2 has sessions that wait for a lock on orders.';

function check(
  changes: Diagnosis['changes'],
  given: {
    readonly answer?: WhatChanged;
    readonly calls?: readonly ToolCall[];
    readonly said?: Partial<Diagnosis>;
    /** Calls of this round; the others are of one before. */
    readonly now?: readonly ToolCall[];
  } = {},
) {
  const { answer = found([DEPLOY]), calls = [asked(answer), live()], now = calls } = given;
  const called = (call: ToolCall): IncidentEventBody => ({
    type: 'tool.called',
    toolCallId: call.id,
    role: 'detective',
    tool: call.tool,
    purpose: null,
    state: 'ok',
    summary: '',
  });
  const record = {
    incident: anIncident({
      title: 'checkouts wait',
      alertName: 'CheckoutsWait',
      labels: { service: 'checkout' },
    }),
    toolCalls: calls,
    events: eventsOf(
      { type: 'incident.opened', source: 'x', title: 'x' },
      ...calls.filter((call) => !now.includes(call)).map(called),
      { type: 'state.changed', from: 'reported', to: 'diagnosing', reason: '' },
      ...now.map(called),
    ),
  };
  const quote = calls.find(({ id }) => id === LIVE)?.output ?? WAITS;
  const diagnosis = aDiagnosis({
    origin: 'model',
    rootCause: CAUSE,
    category: null,
    runbookId: null,
    ruledOut: [],
    evidence: [{ claim: quote, toolCallIds: [LIVE], quote }],
    ...(changes === undefined ? {} : { changes }),
    ...given.said,
  });
  return { ...checkEvidence(diagnosis, record), objections: objectionsTo(diagnosis, record), record };
}

const says = (ref: string, part: 'cause' | 'suspect' | 'unrelated', ...ids: readonly string[]) => ({
  ref,
  title: ref,
  part,
  toolCallIds: ids.map(asToolCallId),
});
const partsOf = ({ diagnosis }: { readonly diagnosis: Diagnosis }) =>
  Object.fromEntries((diagnosis.changes ?? []).map(({ ref, part }) => [ref, part]));

describe('a change that is said to be the cause', () => {
  it('is, where a live read shows what it put there and the cause names it', () => {
    const checked = check([says('c1', 'cause', ASKED, LIVE)]);
    expect(checked.diagnosis.changes).toEqual([
      { ref: 'c1', title: 'shop-api 1.4.2 deployed by olivia', part: 'cause', toolCallIds: [ASKED, LIVE] },
    ]);
    expect(checked).toMatchObject({ dropped: [], unsupported: [], objections: null });
  });

  it.each<[string, Parameters<typeof check>[1] & { readonly ids?: readonly string[] }, RegExp]>([
    [
      'no read of it is cited',
      {
        calls: [asked(found([DEPLOY])), live('12 sessions wait for a lock on orders, the oldest 90 s')],
        said: { rootCause: '12 sessions wait for a lock on orders.' },
      },
      /time alone/,
    ],
    ['the read is of another round', { calls: [asked(found([DEPLOY])), live()], now: [] }, /No live read/],
    [
      'the read shows the version before it',
      {
        calls: [asked(found([DEPLOY])), live('shop-db/1.4.1 has 12 sessions that wait for a lock on orders')],
        said: { rootCause: '12 sessions wait for a lock on orders since 1.4.2 was there.' },
      },
      /time alone/,
    ],
    [
      'the version only looks alike',
      {
        calls: [asked(found([DEPLOY])), live('app/11.4.2 has 12 sessions, app/1.4.20 has 3')],
        said: { rootCause: '12 sessions of 1.4.2 wait.' },
      },
      /time alone/,
    ],
    ['another suspect is left', { answer: found([DEPLOY, SETTING]) }, /another suspect: “statement_timeout/],
    [
      'another suspect is left that a narrower question did not tell of',
      {
        calls: [
          asked(found([DEPLOY, SETTING]), { id: asToolCallId('tc_first0000000') }),
          asked(found([DEPLOY])),
          live(),
        ],
      },
      /another suspect/,
    ],
    [
      'a random read is cited against the other suspect',
      { answer: found([DEPLOY, SETTING]) },
      /no live read of what was changed|another suspect/,
    ],
    [
      'it is only known to be of about that time',
      { answer: found([aChange('c1', { when: 'around', source: OWN_LOOK, startedAt: minutesBefore(5) })]) },
      /not known to have been changed before/,
    ],
    [
      'what was read shows that it began before',
      { said: { onset: minutesBefore(30) }, calls: [asked(found([DEPLOY])), live(`${WAITS}; since 30 min`)] },
      /began before that change/,
    ],
    [
      'it is a neighbour’s, and nothing of that was read',
      {
        answer: found([
          aChange('c1', { touches: 'neighbour', through: 'shop-cache', where: ['shop-cache'] }),
        ]),
      },
      /It touched shop-cache/,
    ],
  ])('is a suspect where %s', (name, given, reason) => {
    const random = name.includes('random') ? [says('c2', 'unrelated', LIVE)] : [];
    const checked = check([says('c1', 'cause', ASKED, LIVE), ...random], given);
    expect(partsOf(checked)).toMatchObject({ c1: 'suspect' });
    expect(checked.dropped.map((one) => one.reason).join(' ')).toMatch(reason);
    expect(checked.objections).toMatch(reason);
  });

  it.each([
    ['after it', found([DEPLOY], [LATER]), 'c3', /4 min after it began/],
    ['unknown', found([DEPLOY]), 'c9', /No answer to what was changed has it/],
  ])('is none where it is %s', (_, answer, ref, reason) => {
    const checked = check([says(ref, 'cause', ASKED, LIVE)], { answer });
    expect(partsOf(checked)).toEqual({ c1: 'suspect' });
    expect(checked.dropped).toEqual([expect.objectContaining({ reason: expect.stringMatching(reason) })]);
  });

  it.each<[string, Partial<RelatedChange>, string, string, 'cause' | 'suspect']>([
    [
      'a setting without a digit, with what it is a value of',
      { title: 'selector of threads: app=threads → app=thread', from: 'app=threads', to: 'app=thread' },
      'it selects app=thread, which 0 pods have',
      'The service selects app=thread.',
      'cause',
    ],
    [
      'not the value that was there before',
      { title: 'selector of threads: app=thread → app=threads', from: 'app=thread', to: 'app=threads' },
      'it selects app=thread, which 0 pods have',
      'The service selects app=thread.',
      'suspect',
    ],
    [
      'not a value that only begins alike',
      { title: 'selector of threads: app=threads → app=thread', from: 'app=threads', to: 'app=thread' },
      'it selects app=thread-pool, which 0 pods have',
      'The service selects app=thread-pool.',
      'suspect',
    ],
    [
      'not a plain word, which may stand anywhere',
      { title: 'mode: normal → drained', from: 'normal', to: 'drained', kind: 'infrastructure' },
      'the pool is drained',
      'The pool is drained.',
      'suspect',
    ],
    [
      'a package by its name, whatever its version',
      {
        title: 'package thumbnailer of app-1: 2.3 → 2.4',
        from: '2.3',
        to: '2.4',
        kind: 'infrastructure',
      },
      '77 thumbnailer processes use 190 %',
      'Processes of thumbnailer use the processor.',
      'cause',
    ],
    [
      'not that there is a package',
      { title: 'package thumbnailer of app-1: 2.3 → 2.4', from: '2.3', to: '2.4', kind: 'infrastructure' },
      'the package mailer writes 2.4 MB a second',
      'The package mailer writes too much.',
      'suspect',
    ],
  ])('is known by %s', (_, given, shown, rootCause, part) => {
    const answer = found([aChange('c1', { kind: 'config', where: ['shop-db'], ...given })]);
    const checked = check([says('c1', 'cause', ASKED, LIVE)], {
      answer,
      calls: [asked(answer), live(shown)],
      said: { rootCause },
    });
    expect(partsOf(checked)).toEqual({ c1: part });
  });

  it('is a neighbour’s where a read of that neighbour shows it', () => {
    const cache = aChange('c1', { touches: 'neighbour', through: 'shop-cache', where: ['shop-cache'] });
    const checked = check([says('c1', 'cause', ASKED, LIVE)], {
      calls: [asked(found([cache])), live(WAITS, { target: 'shop-cache' })],
    });
    expect(partsOf(checked)).toEqual({ c1: 'cause' });
  });

  it('has no rival in what a read speaks against', () => {
    const against = aToolCall({
      id: OTHER,
      tool: 'postgres_settings',
      output: 'statement_timeout | 30s | not set on this role',
      result: null,
    });
    const answer = found([DEPLOY, SETTING]);
    const parts = (setting: string, claims: boolean) => {
      const read = { ...against, output: setting };
      return check([says('c1', 'cause', ASKED, LIVE), says('c2', 'unrelated', ASKED, OTHER)], {
        calls: [asked(answer), live(), read],
        said: {
          evidence: [
            { claim: WAITS, toolCallIds: [LIVE], quote: WAITS },
            ...(claims ? [{ claim: setting, toolCallIds: [OTHER], quote: setting }] : []),
          ],
        },
      });
    };
    const checked = parts(against.output, true);
    expect(partsOf(checked)).toEqual({ c1: 'cause', c2: 'unrelated' });
    expect(checked.dropped).toEqual([]);
    // Nobody says what the read is against it, or it shows that the change is there.
    expect(partsOf(parts(against.output, false))).toEqual({ c1: 'suspect', c2: 'suspect' });
    expect(partsOf(parts('statement_timeout | 5min | set on this role', true))).toEqual({
      c1: 'suspect',
      c2: 'suspect',
    });
  });

  it('is not cleared by the very read that shows it', () => {
    expect(partsOf(check([says('c1', 'unrelated', ASKED, LIVE)]))).toEqual({ c1: 'suspect' });
  });

  it.each<[string, Partial<RelatedChange>]>([
    [
      'another setting of the same minutes',
      {
        source: OWN_LOOK,
        kind: 'config',
        title: 'max_connections of shop-db: 200 → 20',
        where: ['shop-db'],
        from: '200',
        to: '20',
        startedAt: minutesBefore(6),
        beforeMs: 60_000,
      },
    ],
    [
      'the version after it',
      { title: 'shop-api 1.4.2 → 1.4.3 deployed', from: '1.4.2', to: '1.4.3', beforeMs: 120_000 },
    ],
    [
      'the same version of another service',
      { title: 'shop-mailer 1.4.2 deployed', where: ['shop-mailer', 'shop-db'] },
    ],
    [
      'its rollback',
      {
        kind: 'rollback',
        title: 'shop-api rolled back from 1.4.2 to 1.4.1',
        from: '1.4.2',
        to: '1.4.1',
        beforeMs: 60_000,
      },
    ],
  ])('is a suspect beside %s: that is no same act', (_, other) => {
    const checked = check([says('c1', 'cause', ASKED, LIVE)], {
      answer: found([DEPLOY, aChange('c2', other)]),
    });
    expect(partsOf(checked)).toEqual({ c1: 'suspect', c2: 'suspect' });
  });

  it('has no rival in what another sender tells of the same version', () => {
    const again = aChange('c2', { source: 'argo', title: 'shop-api 1.4.2 synced', beforeMs: 240_000 });
    expect(
      partsOf(check([says('c1', 'cause', ASKED, LIVE)], { answer: found([DEPLOY, again]) })),
    ).toMatchObject({ c1: 'cause' });
  });

  it('is a suspect where it is of about that time, however late its onset is said to be', () => {
    const seen = aChange('c1', {
      source: OWN_LOOK,
      when: 'around',
      startedAt: minutesBefore(1),
      at: minutesBefore(-4),
      beforeMs: 0,
    });
    const output = `${WAITS}; the newest since 2026-11-21T10:05:00Z`;
    const checked = check([says('c1', 'cause', ASKED, LIVE)], {
      calls: [asked(found([seen])), live(output, { finishedAt: '2026-11-21T10:06:00.000Z' })],
      said: { onset: '2026-11-21T10:05:00.000Z' },
    });
    expect(partsOf(checked)).toEqual({ c1: 'suspect' });
  });

  it('is a suspect where a read of another neighbour shows it', () => {
    const cart = aChange('c1', { touches: 'neighbour', through: 'cart-db', where: ['cart-db'] });
    const checked = check([says('c1', 'cause', ASKED, LIVE)], {
      calls: [asked(found([cart])), live(WAITS, { target: 'billing-db' })],
    });
    expect(partsOf(checked)).toEqual({ c1: 'suspect' });
  });

  it('has no rival in what Sentry saw of the same act', () => {
    const seen = aChange('c2', {
      source: OWN_LOOK,
      kind: 'other',
      title: 'container shop-api was recreated',
      from: null,
      to: null,
      startedAt: minutesBefore(6),
      at: minutesBefore(2),
    });
    const checked = check([says('c1', 'cause', ASKED, LIVE)], { answer: found([DEPLOY, seen]) });
    expect(partsOf(checked)).toEqual({ c1: 'cause', c2: 'suspect' });
  });

  it('is a suspect with the cause that a second look does not find', () => {
    const checked = check([says('c1', 'cause', ASKED, LIVE)]);
    const doubt: Doubt = { kind: 'checked', claims: ['supported'], cause: 'not_supported' };
    const doubted = doubleChecked(checked, doubt, checked.record);
    expect(partsOf(doubted)).toEqual({ c1: 'suspect' });
    expect(doubted.dropped).toEqual([expect.objectContaining({ claim: expect.stringContaining('1.4.2') })]);
  });
});

describe('suspects', () => {
  it('are told though nobody named them, those of neighbours only where there are no others', () => {
    const near = aChange('c4', { touches: 'neighbour', through: 'shop-cache' });
    expect(partsOf(check(undefined, { answer: found([DEPLOY, SETTING, near]) }))).toEqual({
      c1: 'suspect',
      c2: 'suspect',
    });
    expect(partsOf(check(undefined, { answer: found([near]) }))).toEqual({ c4: 'suspect' });
  });

  it('are none of what is healthy', () => {
    const checked = check(undefined, { said: { verdict: 'healthy', rootCause: 'No session waits.' } });
    expect(partsOf(checked)).toEqual({});
  });

  it('make no cause surer', () => {
    const claims = [
      { claim: WAITS, toolCallIds: [LIVE], quote: WAITS },
      { claim: 'The disk is full.', toolCallIds: [LIVE], quote: 'no such line in there' },
    ];
    const told = {
      claim: 'shop-api 1.4.2 deployed.',
      toolCallIds: [ASKED],
      quote: 'c1 shop-api 1.4.2 deployed by olivia',
    };
    const without = check(undefined, { said: { evidence: claims, confidence: 0.9 } });
    const withIt = check(undefined, { said: { evidence: [...claims, told], confidence: 0.9 } });
    expect(withIt.diagnosis.evidence).toHaveLength(2);
    expect(withIt.diagnosis.confidence).toBe(without.diagnosis.confidence);
  });

  it('alone carry no cause', () => {
    const told = {
      claim: 'shop-api 1.4.2 deployed.',
      toolCallIds: [ASKED],
      quote: 'c1 shop-api 1.4.2 deployed by olivia',
    };
    const checked = check([says('c1', 'cause', ASKED)], { said: { evidence: [told] } });
    expect(checked).toMatchObject({ isUnproven: true, live: false });
    expect(partsOf(checked)).toEqual({ c1: 'suspect' });
  });
});

describe('a cause that blames a change in words', () => {
  const blaming = (
    rootCause: string,
    answer: WhatChanged,
    output = '12 sessions wait for a lock on orders',
  ) =>
    check([says('c1', 'suspect', ASKED)], {
      calls: [asked(answer), live(output)],
      said: { rootCause },
    }).unsupported.join(' ');
  const COMMITS = aChange('c1', {
    commits: [
      { sha: '4f2a91c0aa', title: 'Checkout keeps its connection', by: 'noah', files: ['src/pool.ts'] },
      { sha: '9b1c2d3e44', title: 'New colours', by: 'amara', files: ['web/theme.css'] },
    ],
  });

  it.each([
    [
      'came after',
      'The deploy of 1.4.3 made 12 sessions wait for a lock.',
      found([], [LATER]),
      /4 min after/,
    ],
    [
      'is a suspect only',
      'The deploy of shop-api 1.4.2 made 12 sessions wait for a lock.',
      found([DEPLOY]),
      /It blames “shop-api 1.4.2 deployed/,
    ],
    [
      'nobody knows of',
      '12 sessions wait for a lock after a recent deployment.',
      found([]),
      /blames a change/,
    ],
    ...[
      'The deploy of shop-api 1.4.2 holds the lock, so the 12 sessions could not go on.',
      'The deploy of shop-api 1.4.2 makes 12 sessions wait or fail.',
      'The deploy of shop-api 1.4.2 makes 12 sessions wait, so some may fail.',
      'shop-api 1.4.2 makes 12 sessions wait for a lock on orders.',
      'Since shop-api went to 1.4.2, 12 sessions wait for a lock on orders.',
      'Since shop-api 1.4.2, 12 sessions wait for a lock on orders.',
      '12 sessions wait for a lock on orders due to v1.4.2.',
      'shop-api 1.4.2 introduced a lock on orders that 12 sessions wait for.',
      'What olivia shipped makes 12 sessions wait for a lock on orders.',
      'olivia broke it: 12 sessions wait for a lock on orders.',
      'olivia merged PR 4711, and 12 sessions wait for a lock on orders.',
    ].map((said): [string, string, WhatChanged, RegExp] => [
      `is blamed so: “${said}”`,
      said,
      found([DEPLOY]),
      /It blames/,
    ]),
    [
      'came after, with a hedge',
      'The deploy of 1.4.3 may have made 12 sessions wait for a lock.',
      found([], [LATER]),
      /4 min after/,
    ],
  ])('that %s does not stand', (_, rootCause, answer, problem) => {
    expect(blaming(rootCause, answer)).toMatch(problem);
  });

  it.each([
    [
      'leaves it open',
      'Either the deploy of shop-api 1.4.2 or the setting made 12 sessions wait for a lock.',
    ],
    ['speaks of what runs', '12 sessions of shop-api 1.4.2 wait for a lock on orders.'],
    ['tells a time', 'Since this morning shop-api 1.4.2 has 12 sessions that wait for a lock on orders.'],
    ['blames none', '12 sessions wait for a lock on orders.'],
  ])('stands where it %s', (_, rootCause) => {
    expect(blaming(rootCause, found([DEPLOY]))).toBe('');
  });

  it('stands where a read itself tells of the act', () => {
    const output = 'rollout of shop-api is stuck: 12 sessions wait for a lock on orders';
    expect(blaming('The rollout of shop-api is stuck: 12 sessions wait.', found([DEPLOY]), output)).toBe('');
  });

  it.each([
    ['nothing shows', WAITS, /which commit/],
    ['the object shows', `${WAITS}; held in src/pool.ts:41`, /^$/],
  ])('names one commit of several only where %s', (_, output, problem) => {
    const checked = check([says('c1', 'cause', ASKED, LIVE)], {
      calls: [asked(found([COMMITS])), live(output)],
      said: {
        rootCause: 'The deploy of shop-api 1.4.2 made sessions wait: its commit 4f2a91c keeps the lock.',
      },
    });
    expect(partsOf(checked)).toEqual({ c1: 'cause' });
    expect(checked.unsupported.filter((one) => one.includes('commit')).join(' ')).toMatch(problem);
  });
});

describe('a runbook’s cause', () => {
  const byRunbook = (answer: WhatChanged, output: string, rootCause: string) =>
    partsOf(
      check(undefined, { calls: [asked(answer), live(output)], said: { origin: 'runbook', rootCause } }),
    );

  it('is a change where its own reads show what that put there', () => {
    expect(byRunbook(found([DEPLOY]), WAITS, CAUSE)).toEqual({ c1: 'cause' });
  });

  it.each([
    [
      'name and time are all there is',
      found([DEPLOY]),
      'shop-api holds a lock on orders for 90 s',
      'shop-api holds a lock on orders.',
    ],
    ['there are two', found([DEPLOY, SETTING]), WAITS, CAUSE],
    ['it came after', found([], [DEPLOY]), WAITS, CAUSE],
    [
      'a read names the table that it touched',
      found([
        aChange('c1', {
          kind: 'migration',
          title: 'comment on orders added',
          where: ['shop-db', 'orders'],
          from: null,
          to: null,
        }),
      ]),
      'pid 4711 holds a lock on orders; 9 wait',
      'Session 4711 holds a lock on orders.',
    ],
    [
      'a read names the setting, and its number is a count',
      found([
        aChange('c1', {
          kind: 'config',
          title: 'max_connections of shop-db: 50 → 100',
          where: ['shop-db'],
          from: '50',
          to: '100',
        }),
      ]),
      '100 of 100 connections (max_connections: 100) are used',
      '100 of 100 connections (max_connections) are used.',
    ],
    [
      'another service has that version',
      found([aChange('c1', { title: 'shop-mailer 1.4.2 deployed', where: ['shop-mailer', 'shop-db'] })]),
      WAITS,
      CAUSE,
    ],
    [
      'a file of a commit is called by a common word',
      found([
        aChange('c1', { commits: [{ sha: 'aaaaaa1', title: 'Log less', by: null, files: ['cmd/server'] }] }),
      ]),
      'the server has 12 sessions that wait',
      'The server has 12 sessions that wait.',
    ],
  ])('is none where %s', (_, answer, output, rootCause) => {
    expect(Object.values(byRunbook(answer, output, rootCause))).not.toContain('cause');
  });
});

it('is told once where another call than the look told of it', () => {
  const told = toldChanges(
    eventsOf(
      { type: 'changes.looked', round: 1, toolCallId: ASKED, found: found([DEPLOY]) },
      {
        type: 'diagnosis.concluded',
        round: 1,
        diagnosis: aDiagnosis({
          changes: [{ ...says('c1', 'unrelated', OTHER, LIVE), title: 'shop-api 1.4.2 deployed by olivia' }],
        }),
      },
    ),
  );
  expect(told).toMatchObject({ suspects: [], unrelated: [{ change: { id: 'c1' } }] });
});
