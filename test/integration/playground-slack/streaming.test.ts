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
