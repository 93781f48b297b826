import { describe, expect, it } from 'vitest';
import type { Severity } from '../../../src/core/alert.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { cardOf, type MayRing, whoIsRung } from '../../../src/slack/views/ring.ts';
import { anAction, aRecord, eventsOf } from '../../support/incident-record.ts';

const ONCALL = 'S0ONCALL';
const may: MayRing = { oncall: ONCALL, approvers: ['U1', 'U2', 'U3', 'U4', 'U5', 'U6'], isQuiet: false };
const called = (mentions: readonly string[]): IncidentEventBody => ({
  type: 'person.called',
  level: 1,
  reason: 'unacknowledged',
  mentions,
  names: [],
  pagers: [],
  problem: null,
});
/** Whom the card mentions that appears so long after what happened last. */
function rung(
  severity: Severity,
  changes: Partial<MayRing> = {},
  bodies: readonly IncidentEventBody[] = [],
  afterMs = 0,
): readonly string[] {
  const record = aRecord({ events: eventsOf(...bodies) });
  const last = record.events.at(-1)?.at ?? '2026-11-21T10:00:00.000Z';
  const proposedAt = new Date(Date.parse(last) + afterMs).toISOString();
  const incident = { ...record.incident, severity };
  return whoIsRung({ ...record, incident }, { card: null, at: proposedAt }, { ...may, ...changes });
}

describe('a card that needs somebody', () => {
  it('mentions who is on call, also for what is not critical; what only informs nobody', () => {
    for (const severity of ['critical', 'error', 'warning', 'unknown'] as const)
      expect(rung(severity)).toEqual([ONCALL]);
    expect(rung('info')).toEqual([]);
  });

  it('in quiet hours only where it is critical', () => {
    expect(rung('critical', { isQuiet: true })).toEqual([ONCALL]);
    expect(rung('error', { isQuiet: true })).toEqual([]);
    expect(rung('warning', { isQuiet: true })).toEqual([]);
  });

  it('mentions those who may decide only for what is critical and has nobody on call, and five of them', () => {
    expect(rung('critical', { oncall: null })).toEqual(['U1', 'U2', 'U3', 'U4', 'U5']);
    expect(rung('error', { oncall: null })).toEqual([]);
  });

  it('mentions whoever has taken it, and not the whole group', () => {
    const taken: IncidentEventBody = { type: 'incident.acknowledged', by: 'U7', how: 'taken' };
    expect(rung('error', {}, [taken])).toEqual(['U7']);
  });

  it('does not mention again who was called within the minute before it', () => {
    expect(rung('error', {}, [called([ONCALL])], 59_000)).toEqual([]);
    expect(rung('error', {}, [called([ONCALL])], 60_000)).toEqual([ONCALL]);
    expect(rung('error', {}, [called(['U9'])], 1_000)).toEqual([ONCALL]);
    // A call that came after the card was not before it.
    expect(rung('error', {}, [called([ONCALL])], -1)).toEqual([ONCALL]);
  });

  const asked: IncidentEventBody = { type: 'action.proposed', actionId: asActionId('act_bbbbbbbbbbbb') };
  const over: IncidentEventBody = {
    type: 'action.void',
    actionId: asked.actionId,
    reason: 'The alert is over.',
  };
  it('does not mention again who was asked within the minute before, by a card that was called off: it ended and fired again', () => {
    expect(rung('error', {}, [asked, over], 10_000)).toEqual([]);
    expect(rung('error', {}, [asked, over], 60_000)).toEqual([ONCALL]);
    // Who has taken it meanwhile was not asked.
    const taken: IncidentEventBody = { type: 'incident.acknowledged', by: 'U7', how: 'taken' };
    expect(rung('error', {}, [asked, over, taken], 10_000)).toEqual(['U7']);
  });

  it('mentions again after a decision: what is asked then is another need', () => {
    const no: IncidentEventBody = {
      type: 'action.denied',
      actionId: asked.actionId,
      by: 'U1',
      reason: '',
      anotherWay: true,
    };
    expect(rung('error', {}, [asked, no], 10_000)).toEqual([ONCALL]);
  });

  it('of a plan of several steps mentions them: it is one card', () => {
    const events = eventsOf(asked);
    const at = events[0]?.at ?? '';
    const steps = [1, 2, 3].map((step) =>
      anAction({
        id: step === 1 ? asked.actionId : asActionId(`act_${'c'.repeat(11)}${step}`),
        planId: asked.actionId,
        step,
        proposedAt: at,
      }),
    );
    const record = aRecord({ events, actions: steps });
    expect(whoIsRung(record, cardOf(record, steps[2]!), may)).toEqual([ONCALL]);
  });

  it('an alert that comes and goes is heard once a minute', () => {
    const events = eventsOf(
      ...Array.from({ length: 10 }, (_, n) => {
        const actionId = asActionId(`act_${String(2 * n + 1).padStart(12, '0')}`);
        return [
          { ...asked, actionId },
          { ...over, actionId },
        ];
      }).flat(),
    ).map((event, n) => ({
      ...event,
      at: new Date(Date.parse('2026-11-21T10:00:00Z') + Math.floor(n / 2) * 20_000).toISOString(),
    }));
    const record = aRecord({ events });
    const cards = events.filter(({ type }) => type === 'action.proposed');
    const heard = cards.filter(
      ({ at, seq }) =>
        whoIsRung(
          { ...record, events: events.filter((event) => event.seq <= seq) },
          { card: asActionId(`act_${String(seq).padStart(12, '0')}`), at },
          may,
        ).length > 0,
    );
    expect(cards).toHaveLength(10);
    expect(heard).toHaveLength(4);
  });
});
