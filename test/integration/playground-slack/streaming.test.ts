import { LogLevel, WebClient } from '@slack/web-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, TEAM, USERS } from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';

let slack: LocalSlack;
let client: LocalSlackClient;
let web: WebClient;
let at: { channel: string; thread_ts: string; recipient_user_id: string; recipient_team_id: string };

beforeEach(async () => {
  slack = await createLocalSlack({ rateLimits: { enabled: false } });
  client = new LocalSlackClient(slack.url);
  web = new WebClient(SENTRY_APP.botToken, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    logLevel: LogLevel.ERROR,
  });
  const { ts } = await web.chat.postMessage({ channel: CHANNELS.alerts, text: 'root' });
  at = {
    channel: CHANNELS.alerts,
    thread_ts: String(ts),
    recipient_user_id: USERS.onCall,
    recipient_team_id: TEAM.id,
  };
});

afterEach(() => slack.close());

describe('a streamed message', () => {
  it('grows, updates its tasks in place, and ends with blocks and metadata', async () => {
    const { ts } = await web.chat.startStream({
      ...at,
      chunks: [
        { type: 'plan_update', title: 'Plan' },
        { type: 'task_update', id: '1', title: 'look', status: 'in_progress' },
      ],
    });
    const message = { channel: at.channel, ts: String(ts) };
    await web.chat.appendStream({
      ...message,
      chunks: [
        { type: 'task_update', id: '1', title: 'look', status: 'complete', output: 'found' },
        { type: 'markdown_text', text: 'It is pid 7.' },
      ],
    });
    const live = (await client.messages()).find((each) => each.ts === ts);
    expect(live?.streaming_state).toBe('in_progress');
    await web.chat.stopStream({
      ...message,
      blocks: [{ type: 'divider' }],
      metadata: { event_type: 'done', event_payload: {} },
    });
    const ended = (await client.messages()).find((each) => each.ts === ts);
    expect(ended).toMatchObject({
      text: 'It is pid 7.',
      thread_ts: at.thread_ts,
      metadata: { event_type: 'done' },
    });
    expect(ended?.streaming_state).toBeUndefined();
    expect(ended?.blocks?.map((each) => each.type)).toEqual(['plan', 'markdown', 'divider']);
    expect(ended?.blocks?.[0]).toMatchObject({
      title: 'Plan',
      tasks: [{ task_id: '1', status: 'complete' }],
    });
  });

  it('cannot be continued when it is too old, ended, too large, or of the other kind', async () => {
    const { ts } = await web.chat.startStream({ ...at, markdown_text: 'a' });
    const message = { channel: at.channel, ts: String(ts) };
    const append = (body: object) => web.apiCall('chat.appendStream', { ...message, ...body });
    await expect(append({ chunks: [{ type: 'markdown_text', text: 'b' }] })).rejects.toThrow(
      'streaming_mode_mismatch',
    );
    await expect(append({ markdown_text: 'b'.repeat(11_000) })).rejects.toThrow('msg_too_long');
    await expect(append({ markdown_text: 'b', chunks: [] })).rejects.toThrow('cannot_provide_both');
    await expect(web.apiCall('chat.startStream', { ...at, chunks: [{ type: 'song' }] })).rejects.toThrow(
      'invalid_chunks',
    );
    await append({ markdown_text: 'b' });
    await client.control('timing', { streamMs: -1 });
    await expect(append({ markdown_text: 'c' })).rejects.toThrow('message_not_in_streaming_state');
    await expect(web.chat.stopStream(message)).rejects.toThrow('message_not_in_streaming_state');
    // The way out that the facts name: an ordinary update.
    await web.chat.update({ ...message, text: 'a b c' });
  });

  it('needs a recipient in a channel, and none in a direct message', async () => {
    const { recipient_user_id: _user, ...noUser } = at;
    await expect(web.apiCall('chat.startStream', noUser)).rejects.toThrow('missing_recipient_user_id');
    const { recipient_team_id: _team, ...noTeam } = at;
    await expect(web.apiCall('chat.startStream', noTeam)).rejects.toThrow('missing_recipient_team_id');
    const dm = await web.chat.postMessage({ channel: USERS.onCall, text: 'hi' });
    await web.apiCall('chat.startStream', { channel: dm.channel, thread_ts: dm.ts, markdown_text: 'x' });
  });
});

describe('an agent’s conversation', () => {
  let dm: { channel: string; thread_ts: string };
  const thread = () => ({ channel_id: dm.channel, thread_ts: dm.thread_ts });
  const shown = async () => {
    const { statuses, titles, prompts } = await client.snapshot();
    return { status: statuses.map((each) => each.text), titles: Object.values(titles), prompts };
  };

  beforeEach(async () => {
    const { channel, ts } = await web.chat.postMessage({ channel: USERS.onCall, text: 'hi' });
    dm = { channel: String(channel), thread_ts: String(ts) };
  });

  it('is working while its stream is open, and is called what its first state or a later rename says', async () => {
    const { ts } = await web.chat.startStream({ ...dm, markdown_text: 'a' });
    expect((await shown()).status).toEqual(['is working…']);
    await web.chat.stopStream({ channel: dm.channel, ts: String(ts) });
    expect((await shown()).status).toEqual([]);
    for (const title of ['first', 'second'])
      await web.agents.sessions.setStatus({ ...thread(), status: 'active', title });
    expect((await shown()).titles).toEqual(['first']);
    await web.agents.sessions.rename({ ...thread(), title: 'third' });
    expect((await shown()).titles).toEqual(['third']);
    await web.assistant.threads.setTitle({ ...thread(), title: 'fourth' });
    expect((await shown()).titles).toEqual(['fourth']);
  });

  it('takes no more of an answer that the person has stopped, but for its end, and the app is told', async () => {
    const { ts } = await web.chat.startStream({ ...dm, markdown_text: 'a' });
    const message = { channel: dm.channel, ts: String(ts) };
    await client.act('session.stop', { userId: USERS.onCall, ...dm });
    await expect(web.chat.appendStream({ ...message, markdown_text: 'b' })).rejects.toThrow(
      'stopped_by_user',
    );
    expect((await client.deliveries()).map((each) => each.name)).toContain('agent_session_stopped');
    // Slack does not change the state by itself.
    expect((await shown()).status).toEqual(['is working…']);
    await web.chat.stopStream({ ...message, markdown_text: ' Stopped.' });
    expect((await client.messages()).find((each) => each.ts === ts)?.text).toBe('a Stopped.');
  });

  it('offers at most four things to ask, in a direct message only', async () => {
    const suggest = (channel_id: string, count: number) =>
      web.assistant.threads.setSuggestedPrompts({
        channel_id,
        prompts: Array.from({ length: count }, (_, at) => ({ title: `${at}`, message: `${at}?` })),
      });
    await expect(suggest(dm.channel, 5)).rejects.toThrow('invalid_arguments');
    await expect(suggest(CHANNELS.alerts, 1)).rejects.toThrow('channel_type_not_supported');
    await suggest(dm.channel, 4);
    expect((await shown()).prompts[dm.channel]?.prompts).toHaveLength(4);
  });
});
