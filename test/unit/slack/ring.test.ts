import { describe, expect, it } from 'vitest';
import type { Severity } from '../../../src/core/alert.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { type MayRing, whoIsRung } from '../../../src/slack/views/ring.ts';
import { aRecord, eventsOf } from '../../support/incident-record.ts';

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
  return whoIsRung({ ...record, incident }, proposedAt, { ...may, ...changes });
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
});
