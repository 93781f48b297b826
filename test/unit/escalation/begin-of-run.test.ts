import { expect, it } from 'vitest';
import type { IncidentState } from '../../../src/core/incident.ts';
import { beginOfRun, type SeenEvent } from '../../../src/escalation/begin-of-run.ts';

const AT = '2026-11-23T00:00:00.000Z';
/** `open>reported`: a move; else a type, and who did it. */
const event = (text: string, seq: number): SeenEvent => {
  const [type = '', by = null] = text.split(' ');
  const [from, to] = type.split('>') as [IncidentState, IncidentState?];
  return to
    ? { seq, type: 'state.changed', at: AT, from, to, by: null }
    : { seq, type, at: AT, from: null, to: null, by };
};

it.each<[string, string[], number | null]>([
  ['it is new', ['open>triaging', 'triaging>diagnosing', 'diagnosing>reported'], null],
  ['it came back', ['diagnosing>resolved', 'resolved>diagnosing', 'diagnosing>reported'], 1],
  ['it was ignored', ['triaging>ignored', 'ignored>triaging'], 1],
  ['its mute ended', ['incident.unmuted', 'open>triaging'], 0],
  ['it rests', ['effort.chosen', 'open>reported'], null],
  ['an alert asks for more', ['effort.chosen', 'open>reported', 'effort.chosen', 'reported>triaging'], 3],
  ['a person does', ['effort.chosen', 'open>reported', 'effort.chosen UANN', 'reported>triaging'], null],
  [
    'a person has it looked into again',
    ['diagnosing>reported', 'hint.given UANN', 'reported>diagnosing'],
    null,
  ],
  [
    'Sentry asks again by itself',
    ['effort.chosen', 'open>triaging', 'triaging>diagnosing', 'diagnosing>reported', 'reported>diagnosing'],
    null,
  ],
  ['it flaps', ['diagnosing>resolved', 'alert.flapping', 'resolved>reported'], 2],
  [
    'it flaps no more',
    ['diagnosing>resolved', 'alert.flapping', 'resolved>reported', 'reported>diagnosing'],
    3,
  ],
  [
    'a person does not wait for that',
    ['diagnosing>resolved', 'alert.flapping', 'resolved>reported', 'hint.given UANN', 'reported>diagnosing'],
    2,
  ],
])('%s', (_, texts, expected) => {
  expect(beginOfRun(texts.map(event))?.seq ?? null).toBe(expected);
});
