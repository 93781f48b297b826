import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { textOf } from '../../support/local-slack.ts';
import { silentBus } from '../../support/silent-bus.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';

/** Who may learn what by a command, and what that asks of Slack. */
let scene: SlackScene;

beforeAll(async () => {
  scene = await slackScene();
  await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
  await scene.bot({
    bus: silentBus,
    alertChannels: ['alerts', CHANNELS.admin, 'not-made-yet'],
    approvers: [],
    commands: {
      cost: async ({ text }) => `Cost of ${text}: $1.23`,
      stop: async ({ text }) => `Stopped: ${text}`,
      resume: async ({ text }) => `Resumed: ${text}`,
    },
  });
});
afterAll(() => scene.close());
beforeEach(async () => {
  await scene.control('reset', {});
});

async function told(userId: string, text: string): Promise<string> {
  const said = async () => {
    const { snapshot } = (await scene.control('snapshot', {})) as never as {
      snapshot: { ephemerals: readonly { userId: string; message: Message }[] };
    };
    return snapshot.ephemerals.filter((each) => each.userId === userId).map((each) => each.message);
  };
  const before = (await said()).length;
  await scene.act('command.run', { userId, channel: CHANNELS.general, text });
  return eventually(async () => {
    const now = await said();
    expect(now).toHaveLength(before + 1);
    return textOf(now.at(-1)!);
  });
}

/** Of which nothing is in Slack yet: the bot is not told of it. */
async function unposted(channel: string): Promise<IncidentId> {
  const id = await scene.incident();
  await scene.sql`
    INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at)
    VALUES (${id}, ${`slack:${channel}:${id}`}, 'slack', ${id}, 'firing', 'payroll is down', '{}', '{}', now())`;
  return id;
}

it('an incident out of a private alert channel is its members’ also while it has no thread yet', async () => {
  const hidden = await unposted(CHANNELS.admin);
  const open = await unposted(CHANNELS.alerts);
  const said = await told(USERS.stranger, '/sentry incidents');
  expect(said).toContain(open);
  expect(said).not.toContain(hidden);
  expect(await told(USERS.admin, '/sentry incidents')).toContain(hidden);
});

it('what an incident cost is told to those who may read of it', async () => {
  const hidden = await unposted(CHANNELS.admin);
  expect(await told(USERS.stranger, `/sentry cost ${hidden}`)).toContain(
    `There is no ${hidden} that you may see.`,
  );
  expect(await told(USERS.admin, `/sentry cost ${hidden}`)).toContain('$1.23');
});

it.each(['stop', 'resume'])(
  'nobody can %s an incident that they may not read of, nor learn that there is one',
  async (verb) => {
    const hidden = await unposted(CHANNELS.admin);
    for (const named of [hidden, hidden.toLowerCase(), 'INC-999999'])
      expect(await told(USERS.stranger, `/sentry ${verb} ${named} not mine`)).toContain(
        `There is no ${named.toUpperCase()} that you may see.`,
      );
    expect(await told(USERS.admin, `/sentry ${verb} ${hidden} mine`)).toContain(`: ${hidden} mine`);
    expect(await told(USERS.stranger, `/sentry ${verb}`)).not.toContain('may see');
  },
);

it('a list of many incidents asks Slack once about the person and each channel', async () => {
  for (let n = 0; n < 12; n += 1) await scene.incident();
  const calls = async (method: string) => (await scene.counters()).calls[method]?.total ?? 0;
  const before = await calls('users.info');
  await told(USERS.onCall, '/sentry incidents');
  expect((await calls('users.info')) - before).toBe(1);
});

it('alerts in a channel that is none of ours ask Slack once about it, while one of ours is not found', async () => {
  const calls = async (method: string) => (await scene.counters()).calls[method]?.total ?? 0;
  const joined = await fetch(new URL('conversations.join', scene.slack.apiUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${SENTRY_APP.botToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ channel: CHANNELS.general }),
  });
  expect(await joined.json()).toMatchObject({ ok: true });
  const before = await calls('conversations.info');
  const taken = scene.alerts.length;
  for (const text of ['one', 'two', 'three', 'four'])
    await scene.control('post-as-app', { kind: 'classic', text, channel: CHANNELS.general });
  await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: ours' });
  await eventually(() =>
    expect(new Set(scene.alerts.slice(taken).map((each) => each['text']))).toEqual(new Set(['FIRING: ours'])),
  );
  await eventually(async () =>
    expect(await scene.sql`SELECT 1 FROM slack_inbox WHERE processed_at IS NULL`).toHaveLength(0),
  );
  expect((await calls('conversations.info')) - before).toBe(1);
});
