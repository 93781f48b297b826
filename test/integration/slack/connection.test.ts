import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createLocalSlack } from '../../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { createLog } from '../../../src/infra/log/log.ts';
import { askNames } from '../../../src/slack/outbound/ask-slack.ts';
import { wholeIncident } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene, SOCKET as socketOf } from '../../support/slack-scene.ts';
import { httpConnection, waitingCard, whispers } from './card.ts';

let scene: SlackScene;
const socketConnection = (of: SlackScene) => socketOf(of.slack);
afterEach(() => scene.close());

describe('what was missed', () => {
  it('is read from the history after a disconnect', async () => {
    scene = await slackScene();
    await waitingCard(scene);
    await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: first' });
    await eventually(() => expect(scene.alerts).toHaveLength(1));
    // Its event does not come, and nothing is read again before the connection ends.
    await scene.control('lose-events', { times: 1, event: 'message' });
    await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: lost' });
    await scene.control('disconnect', { how: 'abrupt' });
    await eventually(() => expect(scene.alerts.map((each) => each['text'])).toContain('FIRING: lost'));
  });

  it('is read from the history at the next start, but not what was there before the first', async () => {
    scene = await slackScene();
    // Its event does not come late, while the bot connects.
    await scene.control('lose-events', { times: 1, event: 'message' });
    await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: of last year' });
    const first = await scene.bot();
    await eventually(async () => expect(await scene.sql`SELECT 1 FROM slack_cursor`).toHaveLength(1));
    await first.stop();
    expect(scene.alerts).toEqual([]);
    await scene.control('lose-events', { times: 1, event: 'message' });
    await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: while away' });
    await scene.bot();
    await eventually(() => expect(scene.alerts.map((each) => each['text'])).toEqual(['FIRING: while away']));
  });

  it.each(['refresh', 'abrupt'] as const)(
    'is nothing when the connection ends (%s): it is back at once, and told [M7]',
    async (how) => {
      scene = await slackScene();
      const { bot } = await waitingCard(scene);
      expect(bot.health()).toMatchObject({ ok: true, connections: 2 });
      await scene.control('disconnect', { how });
      await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: meanwhile' });
      await eventually(
        () => expect(scene.alerts.map((each) => each['text'])).toContain('FIRING: meanwhile'),
        4_000,
      );
      await eventually(() => expect(bot.health().connections).toBe(2), 4_000);
      expect(bot.health()).toMatchObject({ lastEventMs: expect.any(Number), givenUp: 0 });
    },
  );
});

it('an edited alert message is taken in again, an edit of our own is not', async () => {
  scene = await slackScene();
  await waitingCard(scene);
  const posted = await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: disk' });
  await eventually(() => expect(scene.alerts).toHaveLength(1));
  await scene.control('update-as-app', {
    channel: CHANNELS.alerts,
    ts: String(posted['ts']),
    text: 'RESOLVED: disk',
  });
  await eventually(() =>
    // An edit comes whole: what it says now stands in its message.
    expect(scene.alerts.map(({ text, message }) => message ?? { text })).toMatchObject([
      { text: 'FIRING: disk' },
      { text: 'RESOLVED: disk' },
    ]),
  );
  expect(scene.alerts[1]?.ts).toBe(scene.alerts[0]?.ts);
});

it('a Slack that goes away and comes back is found again, and what waited is sent', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'local-slack-'));
  scene = await slackScene({ slack: { dataDir } });
  const { bot, id } = await waitingCard(scene);
  const port = Number(new URL(scene.slack.url).port);
  await scene.slack.close();
  await eventually(() => expect(bot.health()).toMatchObject({ ok: false, connections: 0 }));
  await scene.append(id, { type: 'incident.escalated', reason: 'said while Slack was away' });
  await delay(1_500);
  const again = await createLocalSlack({ dataDir, port, rateLimits: { speed: 100 } });
  try {
    await eventually(() => expect(bot.health()).toMatchObject({ ok: true, connections: 2 }));
    await eventually(async () =>
      expect(JSON.stringify(await scene.messages())).toContain('while Slack was away'),
    );
  } finally {
    await bot.stop();
    await again.close();
    await rm(dataDir, { recursive: true });
  }
});

it('a start without Slack does not wait for it for ever, and a refused token is said at once', async () => {
  scene = await slackScene();
  const nowhere = { ...socketConnection(scene), apiUrl: 'http://127.0.0.1:9/api/' };
  const bot = await scene.bot({ connection: nowhere });
  expect(bot.health()).toMatchObject({ ok: false, lastEventMs: null });
  await expect(
    scene.bot({ connection: { ...socketConnection(scene), botToken: 'xoxb-wrong' } }),
  ).rejects.toMatchObject({
    code: 'SLACK_AUTH',
  });
});

it('the Home tab shows what is going on', async () => {
  scene = await slackScene();
  const { id } = await waitingCard(scene);
  await scene.act('home.open', { userId: USERS.admin });
  await eventually(async () => {
    const answer = (await scene.control('snapshot', {})) as { readonly snapshot: { readonly homes: object } };
    const home = JSON.stringify(answer.snapshot.homes);
    expect(home).toContain(id);
    expect(home).toContain('Mode ACTIVE');
  });
});

describe('HTTP requests', () => {
  const send = (url: string, body: string, stamp: number, secret: string = SENTRY_APP.signingSecret) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-slack-request-timestamp': String(stamp),
        'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${stamp}:${body}`).digest('hex')}`,
      },
      body,
    });
  const event = JSON.stringify({
    type: 'event_callback',
    event_id: 'Ev1',
    team_id: 'T0',
    event: { type: 'app_home_opened', user: 'U1', tab: 'messages' },
  });

  it('are taken when signed now, and refused when signed by another, long ago or in the future', async () => {
    scene = await slackScene();
    const bot = await scene.bot({ connection: httpConnection(scene) });
    const now = Math.floor(Date.now() / 1000);
    const url = bot.eventsUrl;
    expect((await send(url, event, now)).status).toBe(200);
    expect((await send(url, event, now, 'another-secret')).status).toBe(401);
    expect((await send(url, event, now - 600)).status).toBe(401);
    expect((await send(url, event, now + 600)).status).toBe(401);
    expect(await scene.sql`SELECT 1 FROM slack_inbox`).toHaveLength(1);
  });

  it('are not acknowledged while they cannot be stored', async () => {
    scene = await slackScene();
    const bot = await scene.bot({ connection: httpConnection(scene) });
    await scene.sql`ALTER TABLE slack_inbox RENAME TO slack_inbox_away`;
    const answer = await send(bot.eventsUrl, event, Math.floor(Date.now() / 1000));
    expect(answer.status).toBe(503);
    await scene.sql`ALTER TABLE slack_inbox_away RENAME TO slack_inbox`;
  });
});

it('the scene works where Slack knows no user groups, metadata, files, streaming or agent methods', async () => {
  scene = await slackScene();
  await scene.control('drop-fields', { fields: ['metadata'] });
  await scene.control('unknown-methods', {
    methods: [
      'usergroups.list',
      'usergroups.users.list',
      'users.info',
      'chat.startStream',
      'assistant.threads.setStatus',
      'agents.sessions.setStatus',
      'files.getUploadURLExternal',
      'conversations.replies',
      'conversations.list',
    ],
  });
  await scene.bot({ decide: async () => ({ ok: true }) });
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await scene.propose(id);
  await scene.append(id, { type: 'incident.escalated', reason: 'help' });
  await eventually(async () => {
    const texts = JSON.stringify(await scene.messages());
    expect(texts).toContain('@oncall');
    expect(texts).toContain('sentry_approve');
  });
  await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: disk' });
  await eventually(() => expect(scene.alerts).toHaveLength(1));
  await scene.act('command.run', {
    userId: USERS.admin,
    channel: CHANNELS.alerts,
    text: `/sentry why ${id}`,
  });
  await eventually(async () => {
    expect((await whispers(scene, USERS.admin)).join()).toContain(`The story of ${id}`);
  });
});

it('names people for a command, and leaves out whom Slack does not know', async () => {
  scene = await slackScene();
  const ids = [USERS.onCall, USERS.onCall, 'U0NOBODY'];
  const names = await askNames(socketConnection(scene), ids, createLog('silent'));
  expect([...names]).toEqual([[USERS.onCall, 'olivia']]);
});
