import { describe, expect, it } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { DrawOptions } from '../../../src/slack/views/blocks/slot.ts';
import { anAction, anIncident, aRecord, eventsOf, wholeIncident } from '../../support/incident-record.ts';

const options: DrawOptions = {
  threadUrl: () => null,
  approvers: '@oncall',
  mayUndo: () => true,
  maySettle: true,
  mayChangeMind: true,
};
const LASTING = asActionId('act_eeeeeeeeeeee');

function shown(changes: Partial<Action>, ...more: readonly IncidentEventBody[]) {
  const lasting = anAction({
    id: LASTING,
    tool: 'postgres_autovacuum_on',
    objects: [{ kind: 'table', key: '5/16421', label: 'table public.cart_events' }],
    purpose: 'prevent',
    beside: true,
    ...changes,
  });
  const record = aRecord({
    incident: anIncident({
      state: 'resolved',
      endedAt: '2026-11-21T10:05:00.000Z',
      resolvedBy: 'confirmed',
      verdict: 'fixed',
      nextStep: null,
    }),
    actions: [anAction({ state: 'succeeded', decidedBy: 'U0FIXER' }), lasting],
    events: eventsOf(...wholeIncident, { type: 'action.proposed', actionId: LASTING }, ...more),
  });
  const slots = draw(record, options);
  const of = (slot: string) => JSON.stringify(slots.find((each) => each.slot === slot));
  return { root: of('root'), card: of(`action:${LASTING}`) };
}

const ran = { type: 'action.finished', actionId: LASTING, outcome: 'succeeded', text: 'It ran.' } as const;

describe('the card of a lasting fix', () => {
  it('asks for it, and says that the problem is over already', () => {
    const { root, card } = shown({ state: 'proposed' });
    expect(card).toContain('Switch autovacuum on for table public.cart_events on shop-db?');
    expect(card).toContain('To keep it from coming back: ');
    expect(card).toContain('the problem is over already');
    expect(card).toContain('sentry_approve');
    expect(root).toContain(
      'To keep it from coming back: switch autovacuum on for table public.cart_events. It waits for approval.',
    );
    expect(root).toContain('Resolved · fixed, and checked');
  });

  it('is done as asked once that was seen, and can be taken back', () => {
    const checked = { type: 'action.checked', actionId: LASTING, seen: true, text: 'It is on.' } as const;
    const { root, card } = shown({ state: 'succeeded', decidedBy: 'U0ONCALL' }, ran, checked);
    expect(card).toContain('✓ Switched autovacuum on for table public.cart_events on shop-db');
    expect(card).toContain('sentry_undo');
    expect(card).not.toContain('opened again');
    for (const text of [root, card]) expect(text).toContain('Done as asked: It is on.');
  });

  it('never says so of what was not seen', () => {
    for (const seen of [false, null]) {
      const checked = { type: 'action.checked', actionId: LASTING, seen, text: 'It is off.' } as const;
      const { root, card } = shown({ state: 'succeeded', decidedBy: 'U0ONCALL' }, ran, checked);
      for (const text of [root, card]) {
        expect(text).not.toContain('Done as asked');
        expect(text).toContain('It ran');
      }
    }
    const { root, card } = shown({ state: 'succeeded', decidedBy: 'U0ONCALL' }, ran);
    expect(card + root).not.toContain('Done as asked');
  });

  it('that was denied leaves on the root who approved what fixed it', () => {
    const { root } = shown({ state: 'denied', decidedBy: 'U0ONCALL' });
    expect(root).toMatch(/Approved by .{0,60}U0FIXER/);
    expect(root).not.toContain('U0ONCALL');
  });

  it('offers no approval while what it would change is stopped, and offers it again on resume', () => {
    const stop = { type: 'switch.set', scope: '*', by: 'U0ADMIN', reason: 'a move', until: null } as const;
    const stopped = shown({ state: 'proposed' }, stop);
    expect(stopped.card).not.toContain('sentry_approve');
    expect(stopped.card).toMatch(/stopped by .*U0ADMIN.*a move/);
    expect(stopped.root).not.toContain('U0ADMIN');
    expect(shown({ state: 'proposed' }, stop, { ...stop, type: 'switch.cleared' }).card).toContain(
      'sentry_approve',
    );
  });

  it('that was denied can be asked for after all, while the incident is fixed', () => {
    expect(shown({ state: 'denied', decidedBy: 'U0ONCALL' }).card).toContain('Approve after all');
    expect(shown({ state: 'denied', decidedBy: 'U0ONCALL', round: 0 }).card).not.toContain(
      'Approve after all',
    );
  });
});
