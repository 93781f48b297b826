import { WebClient } from '@slack/web-api';
import { createEmulator, type Emulator } from 'emulate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import { askSlack } from '../../../src/slack/outbound/ask-slack.ts';
import { BOT_SCOPES } from '../../../src/slack/outbound/scopes.ts';
import { tell } from '../../../src/slack/outbound/tell.ts';
import type { SlackConnection } from '../../../src/slack/ports.ts';
import { wholeIncident } from '../../support/incident-record.ts';
import { quiet } from '../../support/quiet.ts';
import { eventually, type SceneBot, type SlackScene, slackScene } from '../../support/slack-scene.ts';

/**
 * A second opinion on the Web API, by people who know nothing of Sentry: emulate 0.12.2 (vercel-labs). Ours is the local Slack, which
 * the other tests use; what both take, neither has made up alone.
 *
 * emulate has no Socket Mode, and delivers no event, command or interaction; no user groups, streaming, canvases or session state; it
 * takes any token; checks no blocks (any type, any number) and limits no rate. So it says nothing of what people press, of Slack's limits, or of pace.
 */
const TOKEN = 'xoxb-of-the-test';
const POOR_TOKEN = 'xoxb-with-too-little';
const APP = { app_id: 'A0SENTRY', bot_id: 'B0SENTRY', bot_user_id: 'U0SENTRY' };

describe('on another Slack-compatible server', () => {
  let emulator: Emulator;
  let scene: SlackScene;
  let bot: SceneBot;
  let people: WebClient;
  let alerts: string;
  let olivia: string;

  const connectionBy = (botToken: string): SlackConnection => ({
    kind: 'http',
    botToken,
    signingSecret: 'of-the-test',
    apiUrl: emulator.url,
  });
  /** What `doctor` says of it that is not well. */
  const wrongs = async (token = TOKEN, channel = 'alerts'): Promise<readonly string[]> => {
    const approvers = [{ kind: 'user' as const, id: olivia }];
    const named = { alertChannels: [channel], adminChannel: 'sentry-admin', approvers, admins: approvers };
    const asked = await askSlack(
      connectionBy(token),
      async () => ({ ...named, oncallGroup: null, isOfAnother: false, isForged: false }),
      quiet,
    );
    return (await asked.examine()).filter(({ ok }) => !ok).map(({ part, says }) => `${part}: ${says}`);
  };
  const thread = async () => {
    const { messages = [] } = await people.conversations.history({ channel: alerts });
    const roots = messages.filter(({ user }) => user === APP.bot_user_id);
    const ts = roots[0]?.ts ?? '';
    const { messages: replies = [] } = ts ? await people.conversations.replies({ channel: alerts, ts }) : {};
    return { roots, replies: replies.filter((each) => each.ts !== ts) };
  };

  beforeAll(async () => {
    const scopes = Object.keys(BOT_SCOPES);
    emulator = await createEmulator({
      service: 'slack',
      seed: {
        slack: {
          team: { name: 'Shop', domain: 'shop' },
          users: [{ name: 'olivia', real_name: 'Olivia Park', email: 'olivia@example.com' }],
          channels: [{ name: 'alerts' }, { name: 'sentry-admin' }],
          oauth_apps: [
            {
              ...APP,
              client_id: '1.1',
              client_secret: 'x',
              name: 'Sentry',
              redirect_uris: [],
              scopes,
              bot_name: 'sentry',
            },
          ],
          tokens: [
            { ...APP, token: TOKEN, user_id: APP.bot_user_id, scopes },
            { ...APP, token: POOR_TOKEN, user_id: APP.bot_user_id, scopes: ['chat:write'] },
          ],
          // A call that its token has no scope for is refused, as Slack does: manifest.yml asks for enough.
          strict_scopes: true,
        },
      },
    });
    people = new WebClient(TOKEN, { slackApiUrl: `${emulator.url}/api/` });
    const { channels = [] } = await people.conversations.list({});
    alerts = channels.find(({ name }) => name === 'alerts')?.id ?? '';
    const { members = [] } = await people.users.list({});
    olivia = members.find(({ name }) => name === 'olivia')?.id ?? '';
    scene = await slackScene();
  });
  afterAll(async () => {
    await scene?.close();
    await emulator?.close();
  });

  it('a token with too little, and channels it is not in, are said in the same words as elsewhere', async () => {
    expect(await wrongs(POOR_TOKEN, alerts)).toEqual(
      expect.arrayContaining([`Alert channel #${alerts}: the app may not read channels`]),
    );
    expect(await wrongs()).toEqual([
      'Alert channel #alerts: I am not in it',
      'Admin channel #sentry-admin: I am not in it',
    ]);
    const { channels = [] } = await people.conversations.list({});
    for (const { id, name } of channels)
      if (id && (name === 'alerts' || name === 'sentry-admin'))
        await people.conversations.join({ channel: id });
    expect(await wrongs()).toEqual([]);
  });

  it('a thread grows, and what changes is edited where it stands', async () => {
    bot = await scene.bot({ connection: connectionBy(TOKEN) });
    const id = await scene.incident(wholeIncident.slice(1, 9));
    await scene.propose(id);
    const before = await eventually(async () => {
      const seen = await thread();
      expect(JSON.stringify(seen.replies)).toContain('sentry_approve');
      return seen;
    });
    expect(before.roots).toHaveLength(1);
    await scene.append(
      id,
      { type: 'incident.closed', by: olivia, reason: 'fixed by hand' },
      {
        type: 'state.changed',
        from: 'awaiting_approval',
        to: 'resolved',
        reason: 'A person says it is over.',
      },
    );
    await eventually(async () => {
      const { roots, replies } = await thread();
      expect(roots.map(({ ts }) => ts)).toEqual(before.roots.map(({ ts }) => ts));
      expect(roots[0]?.text).toContain(' · Over · ');
      expect(replies.map(({ ts }) => ts)).toEqual(expect.arrayContaining(before.replies.map(({ ts }) => ts)));
    });
    expect(bot.health()).toMatchObject({ ok: true, problem: null, givenUp: 0 });
  });

  it('who people are is read as it tells it, and what it does not tell is no answer', async () => {
    const { directory } = bot.workspace;
    expect(await directory.mayAct(olivia, null)).toMatchObject({ ok: true });
    expect(await directory.mayAct(APP.bot_user_id, null)).toMatchObject({ ok: false, code: 'IS_BOT' });
    expect(await directory.mayAct('U0NOBODY', null)).toMatchObject({ ok: false, code: 'WHO_ARE_YOU' });
    expect(await directory.userByEmail('olivia@example.com')).toBe(olivia);
    expect(await directory.channelMembers(alerts)).toContain(olivia);
    // It has no user groups: none are offered, and one that is named is an error.
    expect(await directory.groupHandles()).toEqual([]);
    await expect(directory.groupMembers('oncall')).rejects.toThrow();
  });

  it('answers one person, and posts and opens a direct message', async () => {
    const missed: string[] = [];
    const log: Log = { ...quiet, debug: (_, text) => void missed.push(text ?? '') };
    const say = { text: 'Only you see this.' };
    await tell(bot.workspace.client, log, { userId: olivia, channel: alerts, threadTs: null }, say);
    expect(missed).toEqual([]);
    expect(JSON.stringify((await thread()).roots)).not.toContain(say.text);
    const { channel } = await bot.workspace.client.conversations.open({ users: olivia });
    await bot.workspace.announce('To one person', channel?.id ?? '');
    const { messages = [] } = await people.conversations.history({ channel: channel?.id ?? '' });
    expect(messages.map(({ text }) => text)).toEqual(['To one person']);
  });
});
