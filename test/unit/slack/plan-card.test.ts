import { describe, expect, it } from 'vitest';
import { type Action, actionStates } from '../../../src/core/action.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asActionId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { DrawOptions } from '../../../src/slack/views/blocks/slot.ts';
import { denyView } from '../../../src/slack/views/deny.ts';
import { evidenceView } from '../../../src/slack/views/record-views.ts';
import {
  ACTION,
  anAction,
  anIncident,
  aRecord,
  eventsOf,
  wholeIncident,
} from '../../support/incident-record.ts';

const SECOND = asActionId('act_bbbbbbbbbbbb');
const THIRD = asActionId('act_cccccccccccc');
const options: DrawOptions = {
  threadUrl: () => null,
  approvers: 'olivia',
  mayUndo: ({ tool }) => tool === 'apply_patch',
  maySettle: true,
};

type States = readonly [Action['state'], Action['state'], Action['state']];

/** Put a file back, start the service, vacuum a table. */
function plan(states: States, changes: Partial<Action> = {}): readonly Action[] {
  const decided = states[0] === 'proposed' ? null : 'U0ONCALL';
  const step = (id: Action['id'], number: number, part: Partial<Action>): Action =>
    anAction({
      id,
      planId: ACTION,
      step: number,
      state: states[number - 1] ?? 'queued',
      decidedBy: number === 1 ? decided : null,
      toolCallId: states[number - 1] === 'failed' ? aRecord().toolCalls[0]!.id : null,
      ...part,
      ...(number === 1 ? changes : {}),
    });
  return [
    step(ACTION, 1, {
      tool: 'apply_patch',
      command: 'patch app/worker.conf\n-workers=plenty\n+workers=4',
      why: 'It takes the last change back.',
      undo: 'undo_patch puts it back.\nAfter step 2 of 3 it cannot be wholly taken back.',
      objects: [{ kind: 'file', key: 'f', label: 'file /etc/shop/app/worker.conf' }],
    }),
    step(SECOND, 2, {
      tool: 'restart_service',
      command: 'restart service shop-worker',
      why: 'Nothing starts it again.',
      undo: 'Cannot be undone.',
      objects: [{ kind: 'service', key: 's', label: 'service shop-worker' }],
    }),
    step(THIRD, 3, {
      tool: 'postgres_vacuum_table',
      command: 'VACUUM (ANALYZE) "public"."orders"',
      why: 'It is bloated.',
      undo: 'Nothing to undo.',
      objects: [{ kind: 'table', key: 't', label: 'table public.orders' }],
    }),
  ];
}

const finished = (
  actionId: Action['id'],
  outcome: 'succeeded' | 'failed' | 'unknown',
): IncidentEventBody => ({
  type: 'action.finished',
  actionId,
  outcome,
  text: 'said so',
});

function drawn(actions: readonly Action[], ...more: readonly IncidentEventBody[]) {
  const proposed = wholeIncident.slice(
    0,
    wholeIncident.findIndex(({ type }) => type === 'action.proposed') + 1,
  );
  return draw(aRecord({ actions, events: eventsOf(...proposed, ...more) }), options);
}
const slot = (...of: Parameters<typeof drawn>) =>
  drawn(...of).find((each) => each.slot === `action:${ACTION}`);
/** As a Slack that knows all blocks shows it. */
const card = (...of: Parameters<typeof drawn>) => JSON.stringify({ ...slot(...of), simpler: undefined });
/** Of what is asked the heading, of what is over the first words. */
const titleOf = (shown: string) => /"blocks":\[.*?"text":"([^"]*)"/.exec(shown)?.[1];
const buttonsOf = (shown: string) =>
  [...shown.matchAll(/"action_id":"(\w+)","value":"([^"]*)"/g)].map(([, id]) => id);

describe('the card of a plan', () => {
  const asked = card(plan(['proposed', 'queued', 'queued']));

  it('is one, with one Approve for all that it shows', () => {
    expect(
      drawn(plan(['proposed', 'queued', 'queued'])).filter((each) => each.slot.startsWith('action:')),
    ).toHaveLength(1);
    expect(buttonsOf(asked)).toEqual(['sentry_approve', 'sentry_deny', 'sentry_evidence']);
    expect(asked).toContain(`"value":"${ACTION}:${'a'.repeat(64)}"`);
    expect(asked).toContain('One approval is for all of it');
  });

  it('has its act and object as its title, and its steps by number with what each runs, and why', () => {
    expect(titleOf(asked)).toBe('Change file worker.conf, and 2 more steps on shop-db?');
    for (const text of [
      '1. Change file worker.conf',
      String.raw`patch app/worker.conf\n-workers=plenty\n+workers=4`,
      'It takes the last change back.',
      '2. Restart service shop-worker',
      'restart service shop-worker',
      'Nothing starts it again.',
      '3. Vacuum table public.orders',
      String.raw`VACUUM (ANALYZE) \"public\".\"orders\"`,
    ])
      expect(asked).toContain(text);
  });

  it('names both of two', () => {
    const two = plan(['proposed', 'queued', 'queued']).slice(0, 2);
    expect(titleOf(card(two))).toBe('Change file worker.conf, then restart service shop-worker on shop-db?');
  });

  it('says which steps can be taken back, and which not, also where nothing is lost by them', () => {
    expect(asked).toContain('takes back step 1, not steps 2 and 3.');
    const steps = plan(['proposed', 'queued', 'queued'], { undo: 'undo_patch puts it back.' });
    const shown = (mayUndo: DrawOptions['mayUndo'] & {}) =>
      JSON.stringify(
        draw(aRecord({ actions: steps, events: eventsOf({ type: 'action.proposed', actionId: ACTION }) }), {
          ...options,
          mayUndo,
        }),
      );
    // Once, what destroys nothing counted as if it could be taken back.
    expect(card(steps)).toContain('takes back step 1, not steps 2 and 3.');
    expect(shown(() => true)).toContain('takes back all of it, the last step first.');
    expect(shown(() => false)).toContain('no step of it can be taken back.');
  });

  it('names the point of no return before anybody decides, and not afterwards', () => {
    expect(asked).toContain('Point of no return: ');
    expect(asked).toContain('After step 2 of 3 it cannot be wholly taken back.');
    expect(card(plan(['approved', 'queued', 'queued']))).not.toContain('Point of no return');
    expect(card(plan(['proposed', 'queued', 'queued']).slice(0, 1))).not.toContain('Point of no return');
  });

  it('asks once more where one of the steps is of high risk', () => {
    const steps = plan(['proposed', 'queued', 'queued']);
    const risky = steps.map((step) => (step.id === THIRD ? { ...step, risk: 'high' as const } : step));
    expect(asked).not.toContain('High risk: run this?');
    expect(card(risky)).toContain('High risk: run this?');
    expect(card(risky)).toContain('3 steps: Change file worker.conf');
  });

  it('shows the No that any of its steps touches, and is approved only although', () => {
    const denial = {
      id: 'dn_1',
      incidentId: aRecord().incident.id,
      actionId: ACTION,
      saidBy: 'U0ADMIN',
      saidAt: '2026-11-21T10:00:00.000Z',
      reason: 'not this table',
      scope: 'object',
      label: 'table public.orders',
      until: null,
      takenBackBy: null,
      takenBackAt: null,
    } as never;
    const steps = plan(['proposed', 'queued', 'queued']).map((step) =>
      step.id === THIRD ? { ...step, denialsAcknowledged: ['dn_1'] } : step,
    );
    const record = aRecord({
      actions: steps,
      denials: [denial],
      events: eventsOf({ type: 'action.proposed', actionId: ACTION }),
    });
    const shown = JSON.stringify(draw(record, options).find((each) => each.slot === `action:${ACTION}`));
    expect(shown).toContain('not this table');
    expect(shown).toContain('Approve although');
  });
});

describe('Undo on the card of a plan', () => {
  const undoOf = (id: Action['id'], state: Action['state']) =>
    anAction({ id: asActionId('act_dddddddddddd'), undoes: id, state, requestedBy: 'U0ONCALL' });

  it('says which of its steps it takes back', () => {
    const shown = card(plan(['succeeded', 'succeeded', 'succeeded']));
    expect(buttonsOf(shown)).toContain('sentry_undo');
    expect(shown).toContain('It takes back step 1, not steps 2 and 3, on shop-db');
    expect(buttonsOf(card(plan(['succeeded', 'failed', 'skipped'])))).toContain('sentry_undo');
    expect(buttonsOf(card(plan(['failed', 'skipped', 'skipped'])))).not.toContain('sentry_undo');
  });

  it('is not there while one of its steps is taken back, and says so', () => {
    const shown = card([...plan(['succeeded', 'succeeded', 'succeeded']), undoOf(ACTION, 'approved')]);
    expect(buttonsOf(shown)).not.toContain('sentry_undo');
    expect(shown).toContain('Being undone,');
  });
});

describe('Run the rest on the card of a plan', () => {
  const shown = (actions: readonly Action[], state: Incident['state'], mayChangeMind = true) =>
    buttonsOf(
      JSON.stringify(
        draw(
          aRecord({
            actions,
            incident: anIncident({ state }),
            events: eventsOf(...wholeIncident.slice(0, 10)),
          }),
          {
            ...options,
            mayChangeMind,
          },
        ).find((each) => each.slot === `action:${ACTION}`),
      ),
    ).includes('sentry_rest');

  it.each<[States, boolean]>([
    [['succeeded', 'failed', 'skipped'], true],
    [['succeeded', 'skipped', 'skipped'], true],
    [['failed', 'skipped', 'skipped'], true],
    [['succeeded', 'succeeded', 'succeeded'], false],
    [['succeeded', 'succeeded', 'failed'], false],
    [['succeeded', 'unknown', 'skipped'], false],
    [['succeeded', 'started', 'queued'], false],
    [['denied', 'skipped', 'skipped'], false],
    [['expired', 'skipped', 'skipped'], false],
    [['void', 'skipped', 'skipped'], false],
  ])('of %j: %s', (states, isThere) => {
    expect(shown(plan(states), 'reported')).toBe(isThere);
    expect(shown(plan(states), 'escalated')).toBe(isThere);
  });

  it('is there while the incident waits for people, and clicks are followed', () => {
    const half = plan(['succeeded', 'failed', 'skipped']);
    for (const state of [
      'diagnosing',
      'planning',
      'awaiting_approval',
      'verifying',
      'resolved',
      'stopped',
    ] as const)
      expect(shown(half, state)).toBe(false);
    expect(shown(half, 'reported', false)).toBe(false);
  });

  it('is not there for what ran before it began to, was taken back, or is asked for already', () => {
    const [a, b, c] = plan(['succeeded', 'failed', 'skipped']);
    if (!a || !b || !c) throw new Error('no plan');
    const later = { id: asActionId('act_eeeeeeeeeeee'), proposedAt: '2026-11-21T11:00:00.000Z' };
    const undo = anAction({ ...later, undoes: ACTION, beside: true, state: 'approved' });
    expect(shown([a, b, c, undo], 'reported')).toBe(false);
    const again = { ...c, ...later, planId: later.id, step: 1 };
    expect(shown([a, b, c, { ...again, state: 'proposed' }], 'reported')).toBe(false);
    expect(shown([a, b, c, { ...again, state: 'expired' }], 'reported')).toBe(true);
    const never = plan(['failed', 'skipped', 'skipped']).map((step) => ({ ...step, toolCallId: null }));
    expect(shown(never, 'reported')).toBe(false);
  });
});

describe('what became of a plan', () => {
  it.each<[States, string, readonly string[]]>([
    [['succeeded', 'succeeded', 'succeeded'], '✓ ', []],
    [['succeeded', 'started', 'queued'], 'Running at step 2 of 3: ', ['✓ 1.', '… 2.', '· 3.']],
    [['succeeded', 'queued', 'queued'], 'Running at step 2 of 3: ', ['✓ 1.', '· 2.', '· 3.']],
    [['started', 'queued', 'queued'], 'Running at step 1 of 3: ', ['… 1.', '· 2.', '· 3.']],
    [['approved', 'queued', 'queued'], 'Running: ', ['· 1.', '· 2.', '· 3.']],
    [['succeeded', 'skipped', 'skipped'], 'Ended at step 1 of 3: ', ['✓ 1.', '– 2.', '– 3.']],
    [['succeeded', 'failed', 'skipped'], '✗ Failed at step 2 of 3: ', ['✓ 1.', '✗ 2.', '– 3.']],
    [
      ['succeeded', 'unknown', 'queued'],
      '❔ Unknown whether it ran at step 2 of 3, and it is not run again: ',
      ['✓ 1.', '? 2.', '· 3.'],
    ],
    [['succeeded', 'void', 'skipped'], 'Called off at step 2 of 3: ', ['✓ 1.', '– 2.', '– 3.']],
    [['denied', 'skipped', 'skipped'], 'Not done: ', ['– 1.', '– 2.', '– 3.']],
    [['expired', 'skipped', 'skipped'], 'Not done, nobody decided in time: ', ['– 1.', '– 2.', '– 3.']],
    [['void', 'skipped', 'skipped'], 'Not done, called off: ', ['– 1.', '– 2.', '– 3.']],
  ])('is told step by step: %j', (states, title, marks) => {
    const shown = card(plan(states));
    const act = title === '✓ ' ? 'Changed' : 'change';
    expect(titleOf(shown)).toBe(`${title}${act} file worker.conf, and 2 more steps on shop-db`);
    expect([...shown.matchAll(/([✓✗?–…·] \d\.)/g)].map(([, mark]) => mark)).toEqual(marks);
  });

  it('stands on its card, which says why the rest was not run', () => {
    const steps = plan(['succeeded', 'failed', 'skipped']).map((step) =>
      step.id === SECOND ? { ...step, outcome: 'it did not start' } : step,
    );
    const events = [
      finished(ACTION, 'succeeded'),
      { ...finished(SECOND, 'failed'), text: 'it did not start' },
    ];
    expect(drawn(steps, ...events)).toHaveLength(drawn(plan(['proposed', 'queued', 'queued'])).length);
    const shown = card(steps, ...events);
    expect(shown).toContain('✗ Failed at step 2 of 3');
    expect(shown).toContain('it did not start');
    expect(shown).toContain('not run: the step before failed');
    expect(slot(steps, ...events)?.text).toContain('it did not start');
  });

  it('says who or what ended a plan between two steps', () => {
    const steps = plan(['succeeded', 'skipped', 'skipped']).map((step) =>
      step.id === SECOND ? { ...step, outcome: 'Not run: stopped by Olivia.' } : step,
    );
    const shown = card(steps, finished(ACTION, 'succeeded'));
    expect(shown).toContain('Ended at step 1 of 3');
    expect(shown.match(/\d\. not run: stopped by Olivia/g)).toHaveLength(2);
  });

  it('does not say of what never ran that it failed', () => {
    const steps = plan(['succeeded', 'failed', 'skipped']).map((step) => ({ ...step, toolCallId: null }));
    expect(card(steps, finished(ACTION, 'succeeded'))).toContain('not run: the step before was not run');
    expect(card(steps)).toContain('– 2.');
  });

  it('is settled by people for the step that nobody knows of, by that step', () => {
    const shown = card(plan(['succeeded', 'unknown', 'queued']));
    expect(buttonsOf(shown)).toEqual(['sentry_ran', 'sentry_did_not_run', 'sentry_evidence']);
    expect(shown).toContain('Step 2 ran');
    expect(shown).toContain(`"value":"${SECOND}:${'a'.repeat(64)}"`);
  });

  it.each(actionStates)('has words for a later step that is %s', (state) => {
    const shown = card(plan(['succeeded', state, 'queued']));
    expect(titleOf(shown)).toMatch(/[cC]hange file/);
    expect(shown).not.toContain('undefined');
  });
});

it('the evidence of a plan has every step whole', () => {
  const steps = plan(['proposed', 'queued', 'queued']);
  const shown = JSON.stringify(evidenceView(aRecord({ actions: steps }), steps[0]!));
  for (const text of ['workers=plenty', 'restart service shop-worker', 'VACUUM (ANALYZE)'])
    expect(shown).toContain(text);
});

it('a No to a plan is about all that it touches, and lasts by what stays', () => {
  const session = { kind: 'session', key: '1/x', label: 'session 1 (etl)' };
  const table = { kind: 'table', key: '5/7', label: 'table public.orders' };
  const window = (objects: Action['objects'], beside = false) =>
    JSON.stringify(
      denyView({ plan: `${ACTION}:${'a'.repeat(64)}`, channel: 'C1', threadTs: null }, [
        anAction({ objects, beside, tool: 'postgres_vacuum_table' }),
      ]),
    );
  expect(window([session, table])).toContain('Anything done to session 1 (etl) and 1 more');
  // The table is there when the session has long gone.
  expect(window([session, table])).toContain('For 7 days');
  expect(window([session, table])).not.toContain('Until the session is gone');
  expect(window([session])).toContain('Until the session is gone');
  // Who chooses nothing says No to this very action, by its name, and to nothing else of the thing.
  expect(window([table])).toMatch(
    /"initial_option":\{"text":\{[^}]*"text":"Vacuum table public.orders"[^}]*\},"value":"act"/,
  );
  // What runs beside has no other way that anybody would look for.
  expect(window([table])).toContain('Look for another way');
  expect(window([table], true)).not.toContain('Look for another way');
});
