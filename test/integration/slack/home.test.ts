import { afterEach, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import type { HomeFacts } from '../../../src/slack/views/home-facts.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const facts = (isAdmin: boolean): HomeFacts => ({
  isAdmin,
  state: [`Stopped by <@${USERS.admin}> (everything).`],
  cost: ['Today $0.00'],
  layers: [{ number: 1, name: 'identity vault', state: 'on', says: 'of the configuration' }],
  access: ['box: you approve nothing.'],
  tools: [],
});

async function homeOf(userId: string): Promise<string> {
  await scene.act('home.open', { userId });
  return eventually(async () => {
    const { snapshot } = (await scene.control('snapshot', {})) as {
      readonly snapshot: { readonly homes: Readonly<Record<string, object>> };
    };
    expect(snapshot.homes[userId]).toBeDefined();
    return JSON.stringify(snapshot.homes[userId]);
  });
}

it('Home shows a person what they may read: nothing of a channel they are not in, and what is for admins to admins', async () => {
  scene = await slackScene();
  await scene.bot({ home: async (userId) => facts(userId === USERS.admin) });
  const id = await scene.incident();
  const hidden = await scene.incident();
  await scene.sql`UPDATE incident SET channel = 'C0PRIVATE1', thread_ts = '1.1', title = 'payroll is down' WHERE id = ${hidden}`;
  const [admin, other] = [await homeOf(USERS.admin), await homeOf(USERS.stranger)];
  for (const home of [admin, other]) {
    expect(home).toContain(id);
    expect(home).not.toContain('payroll');
    expect(home).not.toContain(`${hidden} `);
    // By name: nobody is rung by a look at Home.
    expect(home).toContain('Stopped by amara');
    expect(home).toContain('Open incidents (1)');
  }
  expect(admin).toContain('of the configuration');
  expect(other).not.toContain('of the configuration');
});

it('Home is drawn without what cannot be told', async () => {
  scene = await slackScene();
  await scene.bot({ home: () => Promise.reject(new Error('the database is away')) });
  expect(await homeOf(USERS.onCall)).toContain('No open incident that you may see');
});
