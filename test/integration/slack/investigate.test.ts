import { afterEach, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { ACTIONS } from '../../../src/slack/views/blocks/slot.ts';
import { textOf } from '../../support/local-slack.ts';
import { type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { waitFor } from '../../support/wait-for.ts';
import { press, whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

it('what rests has a button that asks for it once, and says no in words [C7]', async () => {
  scene = await slackScene();
  const asked: { id: IncidentId; by: string }[] = [];
  await scene.bot({
    investigate: async (id, by) => {
      asked.push({ id, by });
      return asked.length === 1
        ? { ok: true, text: 'Looking.' }
        : { ok: false, code: 'NOT_RESTING', reason: `${id} is looked into already.` };
    },
  });
  const id = await scene.incident([{ type: 'effort.chosen', effort: 'none', rule: 'alertname="X"' }]);
  await scene.sql`UPDATE incident SET state = 'reported', effort = 'none', next_step = 'Recorded only.' WHERE id = ${id}`;
  const root = await waitFor('one line', async () =>
    (await scene.messages()).find((each) => textOf(each).includes(id) && /Recorded/.test(textOf(each))),
  );
  expect(JSON.stringify(root.blocks)).toContain('"Investigate"');
  expect(
    (await scene.messages()).filter((each) => each.thread_ts === root.ts && each.ts !== root.ts),
  ).toEqual([]);
  const pressIt = () => press(scene, root, ACTIONS.investigate);
  await pressIt();
  await waitFor('the press', async () => asked.length === 1);
  expect(asked).toEqual([{ id, by: USERS.onCall }]);
  await pressIt();
  await waitFor('a no', async () =>
    (await whispers(scene, USERS.onCall)).at(-1)?.includes('is looked into already'),
  );
});
