import { expect, it } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { triedIn } from '../../../src/incidents/tried-in.ts';
import { ACTION, anAction, aRecord, CALL, eventsOf } from '../../support/incident-record.ts';

const second = asActionId('act_bbbbbbbbbbbb');
const other = asActionId('act_cccccccccccc');
const ran = (actionId: typeof ACTION): readonly IncidentEventBody[] => [
  { type: 'action.started', actionId },
  { type: 'action.finished', actionId, outcome: 'succeeded', text: 'done' },
];
const done = { state: 'succeeded', toolCallId: CALL } as const;

it('judges all steps of a plan by what was seen after the last of them, and nothing that came before it', () => {
  const record = aRecord({
    actions: [
      anAction({ ...done, id: other }),
      anAction(done),
      anAction({ ...done, id: second, planId: ACTION, step: 2 }),
    ],
    events: eventsOf(...ran(other), ...ran(ACTION), ...ran(second), {
      type: 'verification.concluded',
      round: 1,
      verdict: 'not_fixed',
      reason: 'still red',
    }),
  });
  expect(triedIn(record).map(({ id, verdict }) => [id, verdict])).toEqual([
    [other, null],
    [ACTION, 'not_fixed'],
    [second, 'not_fixed'],
  ]);
});
