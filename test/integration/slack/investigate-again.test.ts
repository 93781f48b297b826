import { afterAll, beforeAll, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import { refuse } from '../../../src/core/errors.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { press, whispers } from './card.ts';

let scene: SlackScene;
const asked: { readonly id: IncidentId; readonly by: string }[] = [];

beforeAll(async () => {
  scene = await slackScene();
  await scene.bot({
    investigate: async (id, by) => {
      asked.push({ id, by });
      return asked.length > 1
        ? refuse('MOVED', 'It has just moved on.')
        : { ok: true, text: 'Looking again.' };
    },
  });
});
afterAll(() => scene.close());

it('what is sent again while an incident waits is one message that counts, and its button asks in the presser’s name', async () => {
  const id = await scene.incident([
    { type: 'state.changed', from: 'diagnosing', to: 'reported', reason: '' },
  ]);
  const line = async () => {
    const found = (await scene.messages()).filter((each) =>
      JSON.stringify(each).includes('sentry_investigate'),
    );
    expect(found).toHaveLength(1);
    return found[0] as (typeof found)[number];
  };
  await scene.append(id, { type: 'alert.repeated', source: 'test', occurrences: 2 });
  const first = await eventually(line);
  await scene.append(id, { type: 'alert.repeated', source: 'test', occurrences: 3 });
  await eventually(async () => {
    const now = await line();
    expect(JSON.stringify(now)).toContain('sent again 2 times');
    expect(now.ts).toBe(first.ts);
  });
  await press(scene, await line(), 'sentry_investigate');
  await eventually(() => expect(asked).toEqual([{ id, by: USERS.onCall }]));
  // A second press is told why nothing comes of it.
  await press(scene, await line(), 'sentry_investigate');
  await eventually(async () =>
    expect((await whispers(scene, USERS.onCall)).join()).toContain('It has just moved on.'),
  );
});
