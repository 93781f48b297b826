import { LogLevel, WebClient } from '@slack/web-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import {
  ALERTMANAGER_APP,
  CHANNELS,
  ON_CALL_GROUP,
  SENTRY_APP,
  USERS,
} from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';

let slack: LocalSlack;
let client: LocalSlackClient;
let web: WebClient;
const channel = CHANNELS.alerts;

function webClient(token: string = SENTRY_APP.botToken): WebClient {
  return new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    timeout: 60_000,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logLevel: LogLevel.ERROR,
  });
}

/** Slack's code, "ok", or the error's name. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    const { data, name } = error as { data?: { error?: string }; name: string };
    return data?.error ?? name;
  }
}

beforeEach(async () => {
  slack = await createLocalSlack({ rateLimits: { enabled: false } });
  client = new LocalSlackClient(slack.url);
  web = webClient();
});

afterEach(() => slack.close());

describe('who may call', () => {
  it('tells a missing, a wrong and a wrong kind of token apart', async () => {
    expect(await codeOf(new WebClient(undefined, { slackApiUrl: slack.apiUrl }).auth.test())).toBe(
      'not_authed',
    );
    expect(await codeOf(webClient('xoxb-other').auth.test())).toBe('invalid_auth');
    expect(await codeOf(webClient(SENTRY_APP.appToken).auth.test())).toBe('not_allowed_token_type');
    expect(await codeOf(web.apps.connections.open())).toBe('not_allowed_token_type');
    expect(await web.auth.test()).toMatchObject({ user_id: SENTRY_APP.botUserId, bot_id: SENTRY_APP.botId });
  });

  it('answers a method it does not know as Slack does', async () => {
    expect(await codeOf(web.apiCall('made.up'))).toBe('unknown_method');
  });

  it('refuses another host name, another origin, and files outside the page', async () => {
    const post = (headers: Record<string, string>) =>
      fetch(`${slack.url}/control/snapshot`, { method: 'POST', headers, body: '{}' }).then(
        (each) => each.status,
      );
    const json = { 'content-type': 'application/json' };
    expect(await post({ ...json, origin: 'http://evil.example' })).toBe(403);
    expect(await post({ 'content-type': 'text/plain' })).toBe(415);
    expect(await post({ ...json, origin: slack.url })).toBe(200);
    expect(await statusWithHost('evil.example')).toBe(403);
    for (const path of [
      '/../main.ts',
      '/%2e%2e/main.ts',
      '/..%2fmain.ts',
      '/js/..%5c..%5cmain.ts',
      '/.git',
    ]) {
      expect(await rawStatus(path)).toBe(404);
    }
  });
});

describe('chat', () => {
  it('refuses to post where it cannot, or nothing, or to nobody', async () => {
    expect(await codeOf(web.chat.postMessage({ channel: CHANNELS.general, text: 'x' }))).toBe(
      'not_in_channel',
    );
    expect(await codeOf(web.chat.postMessage({ channel: 'C404', text: 'x' }))).toBe('channel_not_found');
    expect(await codeOf(web.chat.postMessage({ channel, text: ' ' }))).toBe('no_text');
    expect(await codeOf(web.chat.postMessage({ channel, text: 'x', thread_ts: '1.000001' }))).toBe(
      'thread_not_found',
    );
    await web.conversations.join({ channel: CHANNELS.general });
    expect(await codeOf(web.chat.postMessage({ channel: CHANNELS.general, text: 'x' }))).toBe('ok');
  });

  it('changes and deletes only its own messages', async () => {
    const other = await webClient(ALERTMANAGER_APP.botToken).chat.postMessage({ channel, text: 'alert' });
    const ts = String(other.ts);
    expect(await codeOf(web.chat.update({ channel, ts, text: 'x' }))).toBe('cant_update_message');
    expect(await codeOf(web.chat.delete({ channel, ts }))).toBe('cant_delete_message');
    expect(await codeOf(web.chat.update({ channel, ts: '1.000001', text: 'x' }))).toBe('message_not_found');
  });

  it('keeps metadata over an update, and shows it only when asked', async () => {
    const metadata = { event_type: 'incident', event_payload: { id: 'INC-1' } };
    const { ts } = await web.chat.postMessage({ channel, text: 'root', metadata });
    await web.chat.update({ channel, ts: String(ts), text: 'edited' });
    const plain = await web.conversations.history({ channel });
    const full = await web.conversations.history({ channel, include_all_metadata: true });
    expect(plain.messages?.[0]).not.toHaveProperty('metadata');
    expect(full.messages?.[0]).toMatchObject({ text: 'edited', metadata });
  });

  it('keeps threads: counts, order, broadcast, tombstones', async () => {
    const root = await web.chat.postMessage({ channel, text: 'root' });
    const thread = String(root.ts);
    const first = await web.chat.postMessage({ channel, text: 'one', thread_ts: thread });
    await web.chat.postMessage({ channel, text: 'two', thread_ts: thread, reply_broadcast: true });
    const toReply = web.chat.postMessage({ channel, text: 'x', thread_ts: String(first.ts) });
    expect(await codeOf(toReply)).toBe('cannot_reply_to_message');
    const replies = await web.conversations.replies({ channel, ts: thread });
    expect(replies.messages?.map((each) => each.text)).toEqual(['root', 'one', 'two']);
    expect(replies.messages?.[0]).toMatchObject({ reply_count: 2, thread_ts: thread });
    const history = await web.conversations.history({ channel });
    expect(history.messages?.map((each) => each.text)).toEqual(['two', 'root']);
    await web.chat.delete({ channel, ts: thread });
    const after = await web.conversations.replies({ channel, ts: thread });
    expect(after.messages?.[0]).toMatchObject({ subtype: 'tombstone' });
  });

  it('pages through history without losing or repeating a message', async () => {
    for (let n = 0; n < 7; n += 1) await web.chat.postMessage({ channel, text: `m${n}` });
    const seen: string[] = [];
    for await (const page of web.paginate('conversations.history', { channel, limit: 3 })) {
      const { messages } = page as unknown as { messages: Array<{ text: string }> };
      seen.push(...messages.map((each) => each.text));
    }
    expect(seen).toEqual(['m6', 'm5', 'm4', 'm3', 'm2', 'm1', 'm0']);
    expect(await codeOf(web.conversations.history({ channel, cursor: 'nonsense' }))).toBe('invalid_cursor');
  });

  it('reads only what is newer than `oldest`', async () => {
    const old = await web.chat.postMessage({ channel, text: 'old' });
    await web.chat.postMessage({ channel, text: 'new' });
    const since = await web.conversations.history({ channel, oldest: String(old.ts) });
    expect(since.messages?.map((each) => each.text)).toEqual(['new']);
  });

  it('gives permalinks that lead to the page', async () => {
    const { ts } = await web.chat.postMessage({ channel, text: 'root' });
    const { permalink } = await web.chat.getPermalink({ channel, message_ts: String(ts) });
    expect(permalink).toBe(`${slack.url}/archives/${channel}/p${String(ts).replace('.', '')}`);
  });
});

describe('the rest of the Web API', () => {
  it('knows people, groups, channels, the team and bots', async () => {
    expect((await web.users.info({ user: USERS.admin })).user?.is_admin).toBe(true);
    expect(await codeOf(web.users.info({ user: 'U404' }))).toBe('user_not_found');
    expect((await web.usergroups.users.list({ usergroup: ON_CALL_GROUP })).users).toEqual([
      USERS.onCall,
      USERS.onCall2,
    ]);
    expect(await codeOf(web.usergroups.users.list({ usergroup: 'S404' }))).toBe('no_such_subteam');
    const joined = (await web.users.conversations({})).channels?.map((each) => each.name);
    expect(joined).toEqual(['alerts', 'sentry-admin']);
    expect((await web.conversations.members({ channel: CHANNELS.admin })).members).toContain(USERS.admin);
    expect((await web.team.info()).team?.name).toBe('Playground');
    expect((await web.bots.info({ bot: ALERTMANAGER_APP.botId })).bot?.name).toBe('Alertmanager');
  });

  it('opens a direct message and posts there', async () => {
    const opened = await web.conversations.open({ users: USERS.onCall });
    const posted = await web.chat.postMessage({ channel: USERS.onCall, text: 'psst' });
    expect(posted.channel).toBe(opened.channel?.id);
  });

  it('uploads a file in three steps and shares it in a thread', async () => {
    const root = await web.chat.postMessage({ channel, text: 'root' });
    await web.filesUploadV2({
      channel_id: channel,
      thread_ts: String(root.ts),
      filename: 'plan.txt',
      file: Buffer.from('long plan'),
      initial_comment: 'the plan',
    });
    const shared = await client.waitForMessage((each) => each.text === 'the plan');
    expect(shared.thread_ts).toBe(root.ts);
    const file = shared.files?.[0];
    const response = await fetch(file?.url_private ?? '');
    expect(await response.text()).toBe('long plan');
    expect(response.headers.get('content-disposition')).toContain('attachment');
  });

  it('reacts once, pins once, bookmarks, and shows and clears a status', async () => {
    const { ts } = await web.chat.postMessage({ channel, text: 'root' });
    const at = { channel, timestamp: String(ts) };
    expect(await codeOf(web.reactions.add({ ...at, name: 'eyes' }))).toBe('ok');
    expect(await codeOf(web.reactions.add({ ...at, name: 'eyes' }))).toBe('already_reacted');
    expect(await codeOf(web.reactions.remove({ ...at, name: 'wave' }))).toBe('no_reaction');
    expect(await codeOf(web.pins.add(at))).toBe('ok');
    expect(await codeOf(web.pins.add(at))).toBe('already_pinned');
    await web.bookmarks.add({
      channel_id: channel,
      type: 'link',
      title: 'runbook',
      link: 'https://example.com',
    });
    await web.assistant.threads.setStatus({
      channel_id: channel,
      thread_ts: String(ts),
      status: 'is looking…',
    });
    expect((await client.snapshot()).statuses).toMatchObject([{ text: 'is looking…' }]);
    await web.chat.postMessage({ channel, thread_ts: String(ts), text: 'answer' });
    const snapshot = await client.snapshot();
    expect(snapshot.statuses).toEqual([]);
    expect(snapshot.pins[channel]).toEqual([ts]);
    expect(snapshot.bookmarks[channel]).toMatchObject([{ title: 'runbook' }]);
  });
});

describe('incoming webhooks', () => {
  const hook = (name: string) => `${slack.url}/services/T0PLAYGROUND/B0ALERTMANAGER/${name}`;
  const send = (url: string, body: unknown) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it("posts what a real Alertmanager's Slack receiver sends, as a bot_message without a user", async () => {
    const answer = await send(hook('playground-alerts'), {
      channel: '#alerts',
      username: 'Alertmanager',
      attachments: [
        {
          title: '[FIRING:1] BlockedSessions',
          title_link: 'http://am/#/alerts',
          text: '',
          fallback: 'f',
          color: 'danger',
          mrkdwn_in: ['fallback', 'pretext', 'text'],
        },
      ],
    });
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    const message = await client.waitForMessage((each) => each.subtype === 'bot_message');
    expect(message).toMatchObject({ bot_id: ALERTMANAGER_APP.botId, username: 'Alertmanager', text: '' });
    expect(message.user).toBeUndefined();
  });

  it('posts a modern app message with user, bot_id, app_id and bot_profile', async () => {
    await send(hook('playground-modern'), { text: 'firing' });
    const message = await client.waitForMessage((each) => each.text === 'firing');
    expect(message).toMatchObject({
      user: ALERTMANAGER_APP.botUserId,
      app_id: ALERTMANAGER_APP.id,
      bot_profile: {},
    });
    expect(message.subtype).toBeUndefined();
  });

  it('refuses a wrong path, a wrong channel and an empty message', async () => {
    expect((await send(hook('other'), { text: 'x' })).status).toBe(404);
    expect((await send(hook('playground-alerts'), { text: 'x', channel: '#none' })).status).toBe(404);
    expect((await send(hook('playground-alerts'), {})).status).toBe(400);
  });
});

/** `fetch` normalises paths and sets Host itself; a socket does not. */
async function rawRequest(head: string): Promise<number> {
  const { connect } = await import('node:net');
  const { hostname, port } = new URL(slack.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${head}\r\nConnection: close\r\n\r\n`),
    );
    let text = '';
    socket.on('data', (part) => {
      text += String(part);
    });
    socket.on('end', () => resolve(Number(text.split(' ')[1])));
    socket.on('error', reject);
  });
}

function rawStatus(path: string): Promise<number> {
  return rawRequest(`GET ${path} HTTP/1.1\r\nHost: ${new URL(slack.url).host}`);
}

function statusWithHost(host: string): Promise<number> {
  return rawRequest(`GET / HTTP/1.1\r\nHost: ${host}`);
}
