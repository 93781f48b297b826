import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkBlocks } from '../../../playground/slack/validate/payload.ts';
import { type ActionState, actionStates } from '../../../src/core/action.ts';
import { severities } from '../../../src/core/alert.ts';
import { efforts } from '../../../src/core/effort.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import { type Incident, incidentStates } from '../../../src/core/incident.ts';
import { measureAt } from '../../../src/core/measure.ts';
import { formatStanding } from '../../../src/incidents/questions/format-state.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { standingOf } from '../../../src/slack/views/blocks/labels.ts';
import { drawRoot } from '../../../src/slack/views/blocks/root.ts';
import type { DrawOptions, Slot } from '../../../src/slack/views/blocks/slot.ts';
import {
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  eventsOf,
  wholeIncident,
} from '../../support/incident-record.ts';
import { recordAt, recordedIncidents } from '../../support/recorded-incidents.ts';
import { seenText } from '../../support/seen-text.ts';

const opened = { type: 'incident.opened', source: 'alertmanager', title: 'x' } as const;
const options: DrawOptions = {
  threadUrl: (id) => `https://example.slack.com/archives/C0/${id}`,
  approvers: null,
  mayDig: true,
  mayName: () => true,
  mergedOf: (id) => anIncident({ id, mergedInto: asIncidentId('INC-7'), title: 'High latency' }),
};
const rootOf = (
  incident: Partial<Incident>,
  events: readonly IncidentEventBody[] = [opened],
  extra: Partial<Parameters<typeof aRecord>[0]> = {},
): Slot =>
  drawRoot(
    aRecord({ incident: anIncident(incident), events: eventsOf(...events), actions: [], ...extra }),
    options,
  );
/** What every read on record says of it. */
const sessionsWait = {
  measure: measureAt('waiting', {
    name: 'waiting',
    label: 'sessions waiting for a lock',
    unit: 'sessions',
    healthy: 'at_most',
    bound: 0,
  }),
  value: 4,
  isHealthy: false,
} as const;
const labelsOf = (root: Slot): readonly string[] =>
  [...JSON.stringify(root.blocks).matchAll(/"action_id":"(\w+)"/g)].map(([, id = '']) => id);
const optionsOf = (root: Slot): readonly string[] =>
  [...JSON.stringify(root.blocks).matchAll(/"value":"(\w+):INC-7"/g)].map(([, id = '']) => id);
const ack = (how: 'taken' | 'acted'): IncidentEventBody => ({
  type: 'incident.acknowledged',
  by: 'U0BEN',
  how,
});

describe('what it says', () => {
  it('under three headers, always in this order, each only when there is something to say', () => {
    const all = seenText(
      rootOf(
        {
          annotations: { summary: 'Checkouts hang' },
          cause: 'a lock',
          confidence: 0.95,
          state: 'awaiting_approval',
          nextStep: 'Waiting for approval.',
        },
        wholeIncident.slice(0, 9),
      ),
    );
    expect(all).toMatch(
      /What is going on\? Checkouts hang\s+What caused it\? a lock \(almost certain[^]*What next\? Waiting for approval/,
    );
    const few = seenText(rootOf({ state: 'reported', effort: 'triage' }));
    expect(few).not.toMatch(/What (is|caused|next)/);
  });

  it('says the cause once, and whose words it is', () => {
    const diagnosis = aDiagnosis({ origin: 'model', rootCause: 'a lock of pid 7' });
    const root = rootOf({ cause: 'a lock of pid 7', confidence: 0.9, state: 'reported' }, [
      opened,
      { type: 'diagnosis.concluded', round: 1, diagnosis },
    ]);
    const text = seenText(root);
    expect(text.match(/a lock of pid 7/g)).toHaveLength(1);
    expect(text).toContain('What caused it? Claude’s words: a lock of pid 7');
    expect(text).not.toContain('Still looking');
  });

  it('says whether the cause is still looked for, or was not found', () => {
    expect(seenText(rootOf({ state: 'diagnosing' }))).toContain('What caused it? Still looking.');
    expect(seenText(rootOf({ state: 'diagnosing', cause: 'a lock' }))).toContain('a lock Still looking.');
    const none: IncidentEventBody = {
      type: 'diagnosis.concluded',
      round: 1,
      diagnosis: aDiagnosis({ verdict: 'cannot_tell' }),
    };
    expect(seenText(rootOf({ state: 'reported' }, [opened, none]))).toContain('What caused it? Not found.');
  });

  it.each([
    [2, '2nd time in 24 h (INC-1)'],
    [3, '3rd time in 24 h (INC-1)'],
    [11, '11th time in 24 h (INC-1)'],
    [undefined, 'seen before (INC-1)'],
  ])('says that it is the time number %s, where its earlier time may be named', (times, says) => {
    const last: IncidentEventBody = {
      type: 'incident.last_time',
      earlier: asIncidentId('INC-1'),
      endedAt: '2026-11-21T09:00:00Z',
      ended: 'confirmed',
      fixedBy: 'Restart shop-worker',
      ...(times === undefined ? {} : { times }),
    };
    const record = aRecord({ incident: anIncident(), events: eventsOf(opened, last) });
    expect(seenText(drawRoot(record, options))).toContain(says);
    expect(seenText(drawRoot(record, options))).toContain('fixed: Restart shop-worker');
    const hidden = seenText(drawRoot(record, { ...options, mayName: () => false }));
    expect(hidden).not.toMatch(/INC-1|time in 24 h|seen before|Restart/);
  });

  it('says what did not help the last time', () => {
    const last: IncidentEventBody = {
      type: 'incident.last_time',
      earlier: asIncidentId('INC-1'),
      endedAt: '2026-11-21T09:00:00Z',
      ended: 'person',
      fixedBy: null,
      failed: 'Restart shop-worker',
    };
    const record = aRecord({ incident: anIncident(), events: eventsOf(opened, last) });
    expect(seenText(drawRoot(record, options))).toContain(
      'a person closed the incident. Did not help: Restart shop-worker',
    );
    expect(seenText(drawRoot(record, { ...options, mayName: () => false }))).not.toContain('Restart');
  });

  it('tells how many of a group fire, and what it cost', () => {
    expect(seenText(rootOf({ members: 5, membersFiring: 3, costUsd: 0.04 }))).toMatch(
      /3 of 5 fire · \$0\.04/,
    );
  });

  it.each([
    ['confirmed', /Fixed: .*Approved by @/s],
    ['source', /Done before: .*Approved by @.*Over · the alert’s source says so/s],
    [null, /Over · nothing more was heard of its alert/],
  ] as const)('that it is over on the word of %s', (resolvedBy, says) => {
    const actions = [
      anAction({
        state: 'succeeded',
        decidedBy: 'U0OLIVIA',
        decidedAt: '2026-11-21T10:01:00Z',
        startedAt: '2026-11-21T10:01:01Z',
      }),
    ];
    const root = rootOf({ state: 'resolved', resolvedBy }, wholeIncident, { actions });
    expect(seenText(root)).toMatch(says);
    expect(labelsOf(root)).toEqual(['sentry_why']);
  });

  it('who closed it, and why', () => {
    const closed: IncidentEventBody = { type: 'incident.closed', by: 'U0BEN', reason: 'by <!channel> hand' };
    const record = aRecord({
      incident: anIncident({ state: 'resolved', resolvedBy: 'person', closedBy: 'U0BEN' }),
      events: eventsOf(opened, closed),
      actions: [],
    });
    const root = drawRoot(record, { ...options, nameOf: () => 'Ben' });
    expect(root.strip?.text).toBe('Over · Ben closed it: by <!channel> hand');
    // Said once, and in the past: nobody goes on with it.
    expect(seenText(root).match(/closed/gi)).toHaveLength(1);
    expect(seenText(root)).toContain('What happened? I changed nothing.');
    expect(root.text).not.toContain('<!');
    const listed = standingOf(record.incident);
    expect(listed).toMatchObject([{ text: 'Closed by ' }, { user_id: 'U0BEN' }]);
    expect(formatStanding(record.incident)).toBe('Closed by a person');
  });

  it('of what is over, what it was and how long, and what keeps it from coming back or nothing', () => {
    const recalled: IncidentEventBody = {
      type: 'memory.recalled',
      incidents: [{ incidentId: asIncidentId('INC-3'), title: 'x', distance: 0 }],
      missing: null,
    } as never;
    const over = recordAt(
      { name: '', events: [...wholeIncident.slice(0, 2), recalled, ...wholeIncident.slice(2)] },
      21,
    );
    const says = seenText(drawRoot(over, { ...options, measured: () => sessionsWait }));
    expect(says).toMatch(/What happened\? 4 sessions waiting for a lock, open for \d+ s\.\s*Fixed: Ended/);
    expect(says).not.toMatch(/What is going on|What next|Seen before|Waiting/);
    const before = recordAt({ name: '', events: wholeIncident }, 14);
    expect(seenText(drawRoot(before, { ...options, measured: () => sessionsWait }))).toMatch(
      /What is going on\? 4 sessions waiting for a lock \(as of/,
    );
  });

  it.each([
    ['ShopDbBlockedSessions', 'Blocked sessions on shop-db', false],
    ['ShopDbBlockedSessions', 'Sessions are blocked by a lock on shop-db', true],
    ['Checkouts hang', 'checkouts are hanging', false],
  ])('of %s “%s” is told %s', (title, summary, isTold) => {
    const says = seenText(rootOf({ title, target: 'shop-db', annotations: { summary } }));
    expect(says.includes(summary)).toBe(isTold);
  });

  it('who said no to what was proposed last, and what happens now', () => {
    const at = recordedIncidents.find(({ name }) => name === 'denied, and another way that is fixed')!;
    const denied = at.events.findIndex(({ type }) => type === 'action.denied') + 1;
    const said = seenText(drawRoot(recordAt(at, denied), options));
    expect(said).toMatch(/What next\? Not done: @x+ said no at 10:05 AM\./);
    const proposed = at.events.findIndex(({ type }, n) => n > denied && type === 'action.proposed') + 1;
    expect(seenText(drawRoot(recordAt(at, proposed), options))).not.toContain('said no');
  });

  it('that a fix did not help, until something else is asked for', () => {
    const failed: IncidentEventBody = {
      type: 'verification.concluded',
      round: 1,
      verdict: 'not_fixed',
      reason: 'Still 5.',
    };
    expect(seenText(rootOf({ state: 'escalated' }, [opened, failed]))).toContain('Not fixed: Still 5.');
    const again: IncidentEventBody = { type: 'plan.none', reason: 'Nothing else.' };
    expect(seenText(rootOf({ state: 'escalated' }, [opened, failed, again]))).not.toContain('Not fixed');
  });
});

describe('what may be pressed', () => {
  it('*I have it* while nobody has it and it is not over', () => {
    const may = (incident: Partial<Incident>, ...events: IncidentEventBody[]) =>
      labelsOf(rootOf(incident, [opened, ...events])).includes('sentry_take');
    expect(may({})).toBe(true);
    expect(may({}, ack('acted'))).toBe(true);
    expect(may({}, ack('taken'))).toBe(false);
    expect(may({}, ack('taken'), { type: 'incident.released', by: 'U0BEN' })).toBe(true);
    for (const state of ['resolved', 'ignored', 'stopped'] as const)
      expect(may({ state }), state).toBe(false);
    expect(may({ state: 'reported', effort: 'triage' })).toBe(false);
    expect(may({ mergedInto: asIncidentId('INC-3') })).toBe(false);
  });

  it('*Stop* while Sentry works or will, *Resume* once stopped, neither when it is over to people', () => {
    const of = (incident: Partial<Incident>) =>
      labelsOf(rootOf(incident)).filter((id) => id === 'sentry_stop' || id === 'sentry_resume');
    expect(of({ state: 'diagnosing' })).toEqual(['sentry_stop']);
    expect(of({ state: 'reported', asksAgainAt: '2026-11-21T10:20:00Z' })).toEqual(['sentry_stop']);
    expect(of({ state: 'stopped', stoppedFrom: 'diagnosing' })).toEqual(['sentry_resume']);
    for (const state of ['reported', 'escalated', 'resolved'] as const)
      expect(of({ state }), state).toEqual([]);
  });

  it('*Dig deeper* where an investigation went no further and a model is there', () => {
    const found = wholeIncident.slice(0, 9);
    expect(labelsOf(rootOf({ state: 'reported' }, found))).toContain('sentry_dig');
    expect(labelsOf(rootOf({ state: 'diagnosing' }, found))).not.toContain('sentry_dig');
    expect(labelsOf(rootOf({ state: 'reported' }))).not.toContain('sentry_dig');
    const record = aRecord({ incident: anIncident({ state: 'reported' }), events: eventsOf(...found) });
    expect(labelsOf(drawRoot(record, {}))).not.toContain('sentry_dig');
  });

  it('the rest behind three dots, five at most; a fix that runs cannot be closed over', () => {
    expect(optionsOf(rootOf({}))).toEqual(['why', 'severity', 'assign', 'merge', 'close']);
    expect(optionsOf(rootOf({ state: 'remediating' }))).not.toContain('close');
    const alert = {
      source: 'x',
      status: 'firing',
      title: 'x',
      labels: {},
      annotations: {},
      startsAt: '',
      receivedAt: '',
      deliveryKey: '',
    };
    const withUrl = rootOf({}, [opened], {
      alerts: [{ ...alert, url: 'https://prometheus.example/x' }] as never,
    });
    expect(optionsOf(withUrl)).toEqual(['why', 'severity', 'assign', 'close', 'link']);
    expect(JSON.stringify(withUrl.blocks)).toContain('"url":"https://prometheus.example/x"');
    const over = rootOf({ state: 'resolved' }, [opened], {
      alerts: [{ ...alert, url: 'javascript:x' }] as never,
    });
    expect(labelsOf(over)).toEqual(['sentry_why']);
  });
});

const text = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    '<!channel> <@U0ADMIN>',
    'word '.repeat(400),
    'x'.repeat(3_000),
    '😀'.repeat(500),
    '\n*Approve*\n',
  ),
  fc.string({ unit: 'binary', maxLength: 400 }),
);
const stateOf = <T>(values: readonly T[]) => fc.constantFrom(...values);

it('is at most 700 characters at every moment, whatever the texts', () => {
  const at = '2026-11-21T10:05:00Z';
  const incidentOf = fc.record({
    state: stateOf(incidentStates),
    severity: stateOf(severities),
    effort: fc.option(stateOf(efforts)),
    title: text,
    target: fc.option(text),
    cause: fc.option(text),
    nextStep: fc.option(text),
    annotations: fc.record({ summary: text }),
    labels: fc.record({ instance: text }),
    occurrences: fc.integer({ min: 1, max: 100_000 }),
    members: fc.integer({ min: 1, max: 500 }),
    resolvedBy: fc.constantFrom('confirmed', 'source', 'person', null),
    asksAgainAt: fc.option(fc.constant(at)),
    flappingUntil: fc.option(fc.constant(at)),
    mutedBy: fc.option(fc.constant('M12345')),
    mergedInto: fc.option(fc.constant(asIncidentId('INC-123456'))),
    costUsd: fc.double({ min: 0, max: 999, noNaN: true }),
  });
  fc.assert(
    fc.property(incidentOf, text, text, stateOf<ActionState>(actionStates), (incident, one, other, state) => {
      const because = { kind: 'neighbour', target: one, neighbour: other } as const;
      const hypotheses = [one, other, one].map((cause) => ({
        cause,
        end: 'ruled_out' as const,
        forIds: [],
        againstIds: [],
      }));
      const doubleCheck = { reason: other, dropped: 1 } as never;
      const events: IncidentEventBody[] = [
        opened,
        {
          type: 'incident.last_time',
          earlier: asIncidentId('INC-99999'),
          endedAt: at,
          ended: 'ignored',
          fixedBy: one,
          failed: other,
          times: 112,
        },
        {
          type: 'incident.related',
          began: 'before',
          incidents: [1, 2, 3, 4].map((n) => asIncidentId(`INC-${n}00000`)),
        },
        { type: 'incident.merged', into: asIncidentId('INC-123456'), because },
        ...[1, 2, 3, 4, 5].map(
          (n): IncidentEventBody => ({ type: 'member.merged', incident: asIncidentId(`INC-${n}`), because }),
        ),
        { type: 'incident.muted', mute: 'M3', by: one, matcher: one, reason: other, until: at },
        {
          type: 'diagnosis.concluded',
          round: 1,
          diagnosis: aDiagnosis({
            origin: 'model',
            hypotheses,
            doubleCheck,
            onset: at,
            symptomNow: { present: true } as never,
          }),
        },
        {
          type: 'person.called',
          level: 1,
          reason: 'unsolved',
          mentions: [],
          names: [one],
          pagers: [other],
          problem: one,
        },
        { type: 'verification.concluded', round: 1, verdict: 'not_fixed', reason: other },
        { type: 'incident.stopped', by: one, reason: other },
        { type: 'switch.set', scope: '*', by: other, reason: one, until: at },
        { type: 'incident.acknowledged', by: one, how: 'taken', assignedBy: other },
        { type: 'incident.closed', by: one, reason: other },
      ];
      const actions = [
        anAction({ state, decidedBy: 'U0OLIVIA', decidedAt: at, command: one, heldBy: other }),
      ];
      for (let length = 1; length <= events.length; length += 1) {
        const record = aRecord({
          incident: anIncident({
            ...incident,
            membersFiring: incident.members - 1,
            confidence: 0.95,
            endedAt: at,
          }),
          events: eventsOf(...events.slice(0, length)),
          actions,
        });
        const mergedOf = (id: Incident['id']) =>
          anIncident({ id, mergedInto: asIncidentId('INC-7'), title: one });
        const root = drawRoot(record, { ...options, mergedOf });
        expect(seenText(root).length, seenText(root)).toBeLessThanOrEqual(700);
        expect(checkBlocks(root.blocks as never, 'message', 'root', 50)).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});

it('whoever is given it is told once, by a message of its own, and whoever took it is not', () => {
  const given: IncidentEventBody = {
    type: 'incident.acknowledged',
    by: 'U0BEN',
    how: 'taken',
    assignedBy: 'U0ANN',
  };
  const slots = (...events: IncidentEventBody[]) =>
    draw(
      aRecord({ incident: anIncident({ title: '<!channel>' }), events: eventsOf(opened, ...events) }),
      options,
    ).filter(({ slot }) => slot.startsWith('assigned:'));
  expect(slots(ack('taken'))).toEqual([]);
  const [told, ...more] = slots(given);
  expect(more).toEqual([]);
  expect(told?.text).toMatch(/^<@U0BEN> this is yours: INC-7 · &lt;!channel&gt;/);
  expect(told && seenText(told).length).toBeLessThanOrEqual(250);
});
