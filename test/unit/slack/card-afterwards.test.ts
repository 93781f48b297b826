import { describe, expect, it } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { DrawOptions } from '../../../src/slack/views/blocks/slot.ts';
import { ACTION, anAction, aRecord, eventsOf, wholeIncident } from '../../support/incident-record.ts';

const options: DrawOptions = {
  threadUrl: () => null,
  approvers: null,
  mayUndo: () => true,
  maySettle: true,
};
const undo = asActionId('act_bbbbbbbbbbbb');

function slot(
  name: string,
  actions: readonly Action[],
  changes: Partial<DrawOptions> = {},
  more: typeof wholeIncident = [],
) {
  const record = aRecord({ actions, events: eventsOf(...wholeIncident, ...more) });
  return JSON.stringify(draw(record, { ...options, ...changes }).find((each) => each.slot === name));
}
const card = (actions: readonly Action[], changes: Partial<DrawOptions> = {}) =>
  slot(`action:${ACTION}`, actions, changes);
const buttonsOf = (text: string) => [...text.matchAll(/"action_id":"(\w+)"/g)].map(([, id]) => id);

describe('the card of an action that is over', () => {
  const done = anAction({ state: 'succeeded', decidedBy: 'U0ONCALL' });

  it('has Undo where it can be taken back, and asks once more', () => {
    expect(buttonsOf(card([done]))).toEqual(['sentry_undo', 'sentry_evidence']);
    expect(card([done])).toContain('if it still is exactly what was written');
    expect(card([done])).toContain(`"value":"${ACTION}:${done.planHash}"`);
    expect(buttonsOf(card([done], { mayUndo: () => false }))).toEqual(['sentry_evidence']);
  });

  it('says before Undo what it brings back, and that the incident it had fixed is opened again [B7]', () => {
    const shown = (resolvedBy: 'confirmed' | 'source') => {
      const incident = { ...aRecord().incident, state: 'resolved', resolvedBy } as const;
      const action = { ...done, purpose: 'repair', undo: 'worker.conf gets `workers=plenty` back.' } as const;
      const record = { ...aRecord({ actions: [action], events: eventsOf(...wholeIncident) }), incident };
      return JSON.stringify(draw(record, options).find(({ slot }) => slot === `action:${ACTION}`));
    };
    expect(shown('confirmed')).toContain('is opened again. worker.conf gets `workers=plenty` back.');
    expect(shown('source')).not.toContain('is opened again');
    expect(shown('source')).toContain('workers=plenty');
  });

  it.each([
    ['approved', 'Being undone, asked for by '],
    ['succeeded', 'Undone by '],
    ['unknown', 'Unknown whether its undo ran, asked for by '],
  ] as const)('says that its undo is %s, and whose it is, without the button', (state, words) => {
    const shown = card([done, anAction({ id: undo, state, undoes: ACTION, requestedBy: 'U0ONCALL' })]);
    expect(shown).toContain(words);
    expect(shown).toContain('"user_id":"U0ONCALL"');
    expect(buttonsOf(shown)).toEqual(['sentry_evidence']);
  });

  it('has Undo again when an undo came to nothing', () => {
    const voided = anAction({ id: undo, state: 'void', undoes: ACTION });
    expect(buttonsOf(card([done, voided]))).toContain('sentry_undo');
  });

  it('lets people say whether it ran while nobody knows, and then says what they said', () => {
    expect(buttonsOf(card([anAction({ state: 'unknown' })]))).toEqual([
      'sentry_ran',
      'sentry_did_not_run',
      'sentry_evidence',
    ]);
    expect(buttonsOf(card([anAction({ state: 'unknown' })], { maySettle: false }))).toEqual([
      'sentry_evidence',
    ]);
    const settled = slot(`action:${ACTION}`, [anAction({ state: 'failed' })], {}, [
      { type: 'action.finished', actionId: ACTION, outcome: 'unknown', text: 'cannot tell' },
      {
        type: 'action.finished',
        actionId: ACTION,
        outcome: 'failed',
        text: 'Settled by Ona: it did not run.',
      },
    ]);
    expect(settled).toContain('Settled by Ona');
    expect(settled).not.toContain('cannot tell');
  });
});
