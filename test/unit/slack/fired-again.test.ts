import { expect, test } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

const moved = (from: IncidentState, to: IncidentState) =>
  ({ type: 'state.changed', from, to, reason: '' }) as const;
const fired = (occurrences: number, more: object = {}) =>
  ({ type: 'alert.repeated', source: 'alertmanager', occurrences, ...more }) as const;

/** What stands in the thread for the alerts that an incident took in at rest. */
const lines = (state: IncidentState, ...events: readonly IncidentEventBody[]): readonly Slot[] =>
  draw(aRecord({ incident: anIncident({ state }), events: eventsOf(...events) }), {
    threadUrl: () => null,
    approvers: null,
  }).filter(({ slot }) => slot.startsWith('again:'));

test('nothing is said of what fires while it is being worked on, nor of the same occurrence by another way', () => {
  expect(lines('diagnosing', fired(2), moved('triaging', 'diagnosing'), fired(3))).toEqual([]);
  expect(lines('reported', moved('diagnosing', 'reported'), fired(1))).toEqual([]);
  expect(lines('reported', fired(2), moved('diagnosing', 'reported'), fired(2, { source: 'slack' }))).toEqual(
    [],
  );
  expect(lines('reported', moved('diagnosing', 'reported'), fired(1, { over: true }))).toEqual([]);
});

test('each rest has one line of its own, and only the present one asks', () => {
  const all = lines(
    'escalated',
    moved('diagnosing', 'reported'),
    fired(2),
    fired(3),
    moved('reported', 'diagnosing'),
    moved('diagnosing', 'escalated'),
    fired(4),
  );
  expect(all.map(({ slot }) => slot)).toEqual(['again:1', 'again:2']);
  expect(all[0]?.text).toBe('INC-7: Its alert still fires: sent again 2 times.');
  expect(JSON.stringify(all[0])).not.toContain('sentry_investigate');
  expect(all[1]?.text).toContain(
    'Its alert still fires: sent again. I have not looked into it since. Press “Investigate again”, or mention me with a hint.',
  );
  expect(JSON.stringify(all[1])).toContain('sentry_investigate');
});

test('new alerts of its group are counted apart', () => {
  const [line] = lines(
    'reported',
    moved('diagnosing', 'reported'),
    fired(1, { members: 2 }),
    fired(1, { members: 3 }),
    fired(2),
  );
  expect(line?.text).toContain('Its alert still fires: sent again, and 2 more alerts of its group fired.');
});

test('one that a person has stopped says how it goes on', () => {
  const [line] = lines('stopped', moved('diagnosing', 'stopped'), fired(2));
  expect(line?.text).toContain('“resume”');
  expect(JSON.stringify(line)).not.toContain('sentry_investigate');
});

test('the button says “again” only where the cause was looked for before', () => {
  const asks = (state: IncidentState, ...events: readonly IncidentEventBody[]): string =>
    JSON.stringify(lines(state, ...events).at(-1));
  expect(asks('reported', moved('diagnosing', 'reported'), fired(2))).toContain('"Investigate again"');
  expect(asks('ignored', moved('triaging', 'ignored'), fired(2))).toContain('"Investigate"');
});
