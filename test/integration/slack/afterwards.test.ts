import { afterEach, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import type { PlanClick } from '../../../src/slack/ports.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { cardOf, press, waitingCard, whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

it('Undo, It ran and It did not run go on with who pressed and the plan seen, and a no is answered', async () => {
  scene = await slackScene();
  const clicks: (PlanClick & { ran?: boolean; name?: string })[] = [];
  const answer = async (click: PlanClick) => {
    clicks.push(click);
    return click.by === USERS.onCall
      ? ({ ok: true, text: 'Asked for: 1 more approval(s) needed.' } as const)
      : ({ ok: false, code: 'GONE', reason: 'somebody has changed it since' } as const);
  };
  const afterwards = {
    mayUndo: () => true,
    undo: answer,
    askAgain: answer,
    takeNoBack: answer,
    runRest: answer,
    settle: answer,
  };
  const bot = await scene.bot({ afterwards });
  const { id } = await waitingCard({ ...scene, bot: async () => bot });
  const to = async (state: string, button: string) => {
    await scene.sql`UPDATE action SET state = ${state} WHERE incident_id = ${id}`;
    return eventually(async () => {
      const card = await cardOf(scene);
      expect(JSON.stringify(card)).toContain(button);
      return card;
    });
  };
  const done = await to('succeeded', 'sentry_undo');
  await press(scene, done, 'sentry_undo');
  await press(scene, done, 'sentry_undo', USERS.admin);
  await eventually(async () => {
    expect((await whispers(scene, USERS.onCall)).join()).toContain('1 more approval');
    expect((await whispers(scene, USERS.admin)).join()).toContain('somebody has changed it since');
  });
  const unknown = await to('unknown', 'sentry_did_not_run');
  await press(scene, unknown, 'sentry_did_not_run');
  await eventually(() => expect(clicks).toHaveLength(3));
  expect(clicks.map(({ by }) => by)).toEqual([USERS.onCall, USERS.admin, USERS.onCall]);
  expect(new Set(clicks.map(({ planHash }) => planHash))).toEqual(new Set(['a'.repeat(64)]));
  expect(clicks[2]).toMatchObject({ ran: false, name: expect.stringMatching(/^(?!U)/) });
});

it('Run the rest, on the card of a plan that stopped half-way, is followed with the plan it shows', async () => {
  scene = await slackScene();
  const clicks: PlanClick[] = [];
  const answer = async (click: PlanClick) => {
    clicks.push(click);
    return { ok: false, code: 'NO_REST', reason: 'nothing of this plan is left' } as const;
  };
  const other = async () => ({ ok: true, text: null }) as const;
  const bot = await scene.bot({
    afterwards: {
      mayUndo: () => false,
      undo: other,
      askAgain: other,
      takeNoBack: other,
      runRest: answer,
      settle: other,
    },
  });
  const { id } = await waitingCard({ ...scene, bot: async () => bot });
  await scene.sql`UPDATE action SET state = 'succeeded' WHERE incident_id = ${id}`;
  await scene.sql`
    INSERT INTO action SELECT (jsonb_populate_record(a, jsonb_build_object('id', 'act_second', 'plan_id', a.id, 'step', 2,
             'state', 'skipped', 'command', 'ANALYZE', 'outcome', 'Not run: stopped by olivia.'))).*
      FROM action a WHERE incident_id = ${id}`;
  await scene.append(id, { type: 'state.changed', from: 'verifying', to: 'reported', reason: 'half' });
  const card = await eventually(async () => {
    const found = await cardOf(scene);
    expect(JSON.stringify(found)).toContain('sentry_rest');
    return found;
  });
  await press(scene, card, 'sentry_rest');
  await eventually(async () =>
    expect((await whispers(scene, USERS.onCall)).join()).toContain('nothing of this plan is left'),
  );
  expect(clicks).toMatchObject([{ by: USERS.onCall, planHash: 'a'.repeat(64) }]);
});
