import { afterEach, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { createKillSwitchCommands } from '../../../src/incidents/kill-switch/kill-switch-commands.ts';
import { createKillSwitchService } from '../../../src/incidents/kill-switch/kill-switch-service.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { createKillSwitch } from '../../../src/safety/kill-switch/kill-switch.ts';
import { textOf } from '../../support/local-slack.ts';
import { quiet } from '../../support/quiet.ts';
import { type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { waitFor } from '../../support/wait-for.ts';
import { whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

it('/sentry stop by an admin is answered, and stands on the root of every open incident until it is resumed', async () => {
  scene = await slackScene();
  const { sql, records } = scene;
  const board = createKillSwitchService({
    sql,
    records,
    audit: createAuditLog(sql),
    killSwitch: createKillSwitch(sql, { mode: 'ACTIVE', dataDir: '/nonexistent' }),
    targets: new Map([['shop-db', { domain: 'postgres' }]]),
    redact: (text) => text,
    log: quiet,
  });
  const stops: object[] = [];
  const orders = createKillSwitchCommands({
    board,
    steering: {
      stop: async (incidentId, by, reason) => {
        stops.push({ incidentId, by, reason });
        return { ok: true, text: `${incidentId} is stopped.` };
      },
      resume: () => Promise.reject(new Error('not asked')),
    },
    isAdmin: async (user) => user === USERS.admin,
    domains: ['postgres'],
    targets: ['shop-db'],
  });
  const bot = await scene.bot({
    commands: {
      stop: async ({ text, by, say, incidentId }) => {
        const answer = await orders.stop(text, by, { onSet: say, here: incidentId });
        return answer.ok ? answer.text : answer.reason;
      },
      resume: async ({ text, by }) => {
        const answer = await orders.resume(text, by);
        return answer.ok ? answer.text : answer.reason;
      },
    },
    statusLines: () => orders.lines(),
  });
  const id = await scene.incident();
  const root = async (says: RegExp | null, without?: RegExp): Promise<void> => {
    await waitFor(`the root to say ${String(says ?? without)}`, async () => {
      const text = (await scene.messages()).map(textOf).find((each) => each.includes(id)) ?? '';
      return (says === null ? text !== '' : says.test(text)) && !without?.test(text);
    });
  };
  const ask = async (userId: string, text: string, says: string): Promise<void> => {
    await scene.act('command.run', { userId, channel: CHANNELS.alerts, text });
    await waitFor(says, async () => (await whispers(scene, userId)).at(-1)?.includes(says));
  };
  await root(null, /Nothing is changed/);
  await ask(USERS.onCall, '/sentry stop shop-db', 'Only admins');
  await ask(USERS.admin, '/sentry stop shop-db for 2h a migration runs', 'Stopped: target shop-db');
  await root(/Nothing is changed.*target shop-db.*a migration runs/s);
  await ask(USERS.admin, '/sentry status', 'a migration runs');
  // By name, and nobody is rung for it.
  expect((await whispers(scene, USERS.admin)).at(-1)).not.toContain(USERS.admin);
  await ask(USERS.admin, '/sentry resume shop-db', 'Resumed: target shop-db');
  await root(null, /Nothing is changed/);

  // Said elsewhere, a misspelt name stops nothing, and is no new incident either; in a thread it stops that incident.
  const rootTs = (await scene.messages()).find((each) => textOf(each).includes(id))?.ts ?? '';
  const mention = (text: string, thread_ts?: string, userId: string = USERS.admin) =>
    scene.act('message.post', {
      userId,
      channel: CHANNELS.alerts,
      text: `<@${SENTRY_APP.botUserId}> ${text}`,
      ...(thread_ts ? { thread_ts } : {}),
    });
  const saidInThread = async (words: string): Promise<void> => {
    await waitFor(`the thread to say ${words}`, async () =>
      (await scene.messages()).some((each) => each.thread_ts === rootTs && textOf(each).includes(words)),
    );
  };
  await mention('stop shop-dbx', rootTs);
  await saidInThread('Did you mean shop-db?');
  expect(stops).toEqual([{ incidentId: id, by: USERS.admin, reason: 'shop-dbx' }]);
  for (const text of ['stop, it makes it worse', 'please stop that now', '🛑 STOP the rollout', 'stop 😱']) {
    const before = stops.length;
    await mention(text, rootTs);
    await waitFor(`“${text}” to stop it`, async () => stops.length > before);
  }
  await mention('stop shop-db', rootTs, USERS.onCall);
  await saidInThread('Nothing else is stopped: Only admins');
  expect(stops.at(-1)).toEqual({ incidentId: id, by: USERS.onCall, reason: 'shop-db' });
  await mention('stop shop-dbx');
  await waitFor('an answer', async () =>
    (await whispers(scene, USERS.admin)).at(-1)?.includes('Did you mean shop-db?'),
  );
  await ask(USERS.admin, '/sentry stop shop-dbx', '/sentry stop everything');
  expect(await board.set()).toEqual([]);
  await mention('stop shop-db for 1h', rootTs);
  await saidInThread('Stopped: target shop-db');
  await mention('resume shop-db');
  await waitFor('an answer', async () =>
    (await whispers(scene, USERS.admin)).at(-1)?.includes('Resumed: target shop-db'),
  );
  await mention('stop everything because the sky is falling');
  await waitFor('an answer', async () =>
    (await whispers(scene, USERS.admin)).at(-1)?.includes('Stopped: everything'),
  );
  expect(await board.set()).toMatchObject([{ scope: '*', reason: 'the sky is falling' }]);
  expect(await scene.sql`SELECT FROM incident`).toHaveLength(1);

  await bot.workspace.announce('The cost breaker is open.');
  const said = (await scene.messages())
    .map(textOf)
    .filter((text) => text.includes('The cost breaker is open'));
  expect(said).toHaveLength(1);
});
