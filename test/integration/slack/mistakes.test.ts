import { afterEach, describe, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { Log } from '../../../src/core/log.ts';
import { httpReceiver } from '../../../src/slack/inbound/http-receiver.ts';
import { askSlack } from '../../../src/slack/outbound/ask-slack.ts';
import type { Named } from '../../../src/slack/outbound/examine-workspace.ts';
import type { SlackConnection } from '../../../src/slack/ports.ts';
import { quiet } from '../../support/quiet.ts';
import { mounted, type SlackScene, slackScene, SOCKET as socketOf } from '../../support/slack-scene.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const named: Named = {
  alertChannels: ['alerts'],
  adminChannel: 'sentry-admin',
  approvers: [{ kind: 'user', id: USERS.onCall }],
  admins: [{ kind: 'user', id: USERS.admin }],
  oncallGroup: null,
  isOfAnother: false,
  isForged: false,
};

/** What `doctor` says of the workspace where something is wrong, what to do with it. */
async function wrongs(changes: Partial<Named> = {}): Promise<string> {
  const asked = await askSlack(socketOf(scene.slack), async () => ({ ...named, ...changes }), quiet);
  const found = (await asked.examine()).filter(({ ok }) => !ok);
  return found.map(({ part, says, todo }) => `${part}: ${says} → ${todo}`).join('\n');
}

/** Tries the tokens, as `doctor` and a start do. */
const asked = (connection: SlackConnection) => askSlack(connection, async () => named, quiet);
const started = (connection: SlackConnection) => scene.bot({ connection });
const refuse = (method: string, error: string) =>
  scene.control('fail', { kind: 'error', method, error, times: 50 });

/** Each usual mistake of a first connection, and what whoever made it is told to do. */
describe('what a new user does wrong has words of its own', () => {
  it.each([
    ['doctor', asked],
    ['a start', started],
  ])('to %s: a bot token that is none', async (_, run) => {
    scene = await slackScene();
    await expect(run({ ...socketOf(scene.slack), botToken: 'xoxb-other' })).rejects.toMatchObject({
      code: 'SLACK_AUTH',
      hint: expect.stringContaining('OAuth & Permissions'),
    });
  });

  it.each([
    ['doctor', 'an app-level token that is none', 'invalid_auth', /^Slack refuses SLACK_APP_TOKEN/, /xapp-/],
    ['a start', 'an app-level token that is none', 'invalid_auth', /^Slack refuses SLACK_APP_TOKEN/, /xapp-/],
    ['doctor', 'one without connections:write', 'missing_scope', /lacks connections:write$/, /generate one/],
    ['a start', 'one without connections:write', 'missing_scope', /lacks connections:write$/, /generate one/],
    ['doctor', 'Socket Mode off', 'socket_mode_is_off', /opens no Socket Mode/, /Enable Socket Mode/],
    ['a start', 'Socket Mode off', 'socket_mode_is_off', /opens no Socket Mode/, /Enable Socket Mode/],
  ])('to %s: %s', async (who, _, error, message, hint) => {
    scene = await slackScene();
    await refuse('apps.connections.open', error);
    const run = who === 'doctor' ? asked : started;
    await expect(run(socketOf(scene.slack))).rejects.toMatchObject({
      code: 'SLACK_APP_TOKEN',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  it('tokens of two apps', async () => {
    scene = await slackScene();
    // Slack takes each of them by itself.
    await refuse('apps.connections.open', 'ratelimited');
    const { botToken } = SENTRY_APP;
    const { apiUrl } = scene.slack;
    await expect(
      asked({ kind: 'socket', botToken, appToken: 'xapp-1-A0ANOTHER-1', apiUrl }),
    ).rejects.toMatchObject({
      message: `SLACK_APP_TOKEN is of the app A0ANOTHER, and SLACK_BOT_TOKEN of ${SENTRY_APP.id}`,
      hint: expect.stringContaining('same app'),
    });
  });

  it('a scope that is missing, by its name and what goes without it', async () => {
    scene = await slackScene();
    await scene.control('scopes', { scopes: ['chat:write'] });
    expect(await wrongs()).toMatch(/it lacks .*commands.* → .*Bot Token Scopes: add .*then press Reinstall/);
  });

  it('a channel that the bot is not in, and one that is not there', async () => {
    scene = await slackScene();
    expect(await wrongs({ alertChannels: [CHANNELS.general] })).toContain(
      'I am not in it → Type /invite @Sentry in it.',
    );
    expect(await wrongs({ alertChannels: ['alertz'] })).toMatch(/#alertz: Slack knows no such channel/);
  });

  it('nobody who may approve, and a group that is none', async () => {
    scene = await slackScene();
    expect(await wrongs({ approvers: [] })).toBe(
      'Approvers: nobody may approve → Say who: /sentry settings.',
    );
    expect(await wrongs({ approvers: [{ kind: 'group', name: 'on-call' }] })).toMatch(/on-call/);
  });

  it('settings of another workspace', async () => {
    scene = await slackScene();
    expect(await wrongs({ isOfAnother: true })).toMatch(/of another workspace.* → .*SLACK_BOT_TOKEN/);
  });

  it.each([
    [
      'a wrong signing secret',
      0,
      'another-signing-secret',
      /not signed with SLACK_SIGNING_SECRET/,
      /Signing/,
    ],
    ['a clock that is slow', 900, SENTRY_APP.signingSecret, /differs from the clock here by 15 min/, /NTP/],
    ['a clock that is fast', -900, SENTRY_APP.signingSecret, /differs from the clock here by 15 min/, /NTP/],
  ])('over HTTP: %s, said once for many requests', async (_, ahead, signingSecret, says, todo) => {
    scene = await slackScene();
    const lines: { readonly fields: unknown; readonly text: string }[] = [];
    const log: Log = { ...quiet, warn: (fields, text) => void lines.push({ fields, text: text ?? '' }) };
    const { receiver, handler } = httpReceiver(
      { kind: 'http', botToken: SENTRY_APP.botToken, signingSecret, apiUrl: scene.slack.apiUrl },
      log,
    );
    receiver.init({ processEvent: async () => undefined } as never);
    const server = await mounted(handler);
    try {
      const send = (headers: Readonly<Record<string, string>>) =>
        fetch(server.url, { method: 'POST', headers, body: '{}' }).then(({ status }) => status);
      const stamp = String(Math.floor(Date.now() / 1000) + ahead);
      // What is no request of Slack's says nothing of the setup.
      expect(await send({})).not.toBe(200);
      expect(lines).toEqual([]);
      for (let sent = 0; sent < 3; sent += 1)
        expect(await send({ 'x-slack-request-timestamp': stamp, 'x-slack-signature': 'v0=00' })).toBe(401);
      expect(lines).toEqual([
        { fields: { todo: expect.stringMatching(todo) }, text: expect.stringMatching(says) },
      ]);
    } finally {
      await server.close();
    }
  });
});
