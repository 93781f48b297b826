import { setTimeout as sleep } from 'node:timers/promises';
import { App, LogLevel } from '@slack/bolt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { LocalSlackClient, textOf } from '../../support/local-slack.ts';

let slack: LocalSlack;
let client: LocalSlackClient;
let app: App;

function boltApp(): App {
  return new App({
    token: SENTRY_APP.botToken,
    appToken: SENTRY_APP.appToken,
    socketMode: true,
    convoStore: false,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: slack.apiUrl, timeout: 60_000, retryConfig: { retries: 1 } },
  });
}

beforeEach(async () => {
  slack = await createLocalSlack({ timing: { ackMs: 400, retryFactor: 0.001 } });
  client = new LocalSlackClient(slack.url);
  app = boltApp();
});

afterEach(async () => {
  await app.stop();
  await slack.close();
});

describe('a Bolt app in Socket Mode', () => {
  it('hears a mention, answers in the thread, and edits its answer', async () => {
    app.event('app_mention', async ({ event, client: web }) => {
      const posted = await web.chat.postMessage({
        channel: event.channel,
        thread_ts: event.ts,
        text: 'looking',
      });
      await web.chat.update({ channel: event.channel, ts: String(posted.ts), text: 'found it' });
    });
    await app.start();
    await client.asUser(USERS.onCall).say(CHANNELS.alerts, '@sentry what is wrong?');
    const answer = await client.waitForMessage((each) => each.text === 'found it');
    const root = (await client.messages()).find((each) => each.ts === answer.thread_ts);
    expect(root).toMatchObject({ text: `<@${SENTRY_APP.botUserId}> what is wrong?`, reply_count: 1 });
    expect(answer).toMatchObject({ user: SENTRY_APP.botUserId, bot_id: SENTRY_APP.botId });
    expect(answer.edited?.user).toBe(SENTRY_APP.botUserId);
  });

  it('gets a press with value, state and a response_url, and the message it stands in is replaced', async () => {
    app.action('approve', async ({ ack, body, action, respond, client: web }) => {
      await ack();
      if (body.type !== 'block_actions' || action.type !== 'button') return;
      await respond({ response_type: 'ephemeral', text: `you pressed ${action.value}` });
      const { channel, message } = body;
      await web.chat.update({
        channel: String(channel?.id),
        ts: String(message?.ts),
        text: `by ${body.user.id}`,
      });
    });
    await app.start();
    const message = await postCard();
    const answer = await client.asUser(USERS.onCall).press(message, { actionId: 'approve' });
    expect(answer).toEqual({ ok: true });
    await client.waitForEphemeral(USERS.onCall, (each) => each.text === 'you pressed plan-1');
    const after = await client.waitForMessage((each) => each.text === `by ${USERS.onCall}`);
    expect(after.ts).toBe(message.ts);
    expect(after.blocks).toBeUndefined();
  });

  it('says to the user that the app did not respond when nothing acknowledges a press', async () => {
    await app.start();
    const answer = await client.asUser(USERS.onCall).press(await postCard(), { actionId: 'approve' });
    expect(answer).toMatchObject({ ok: false, error: 'dispatch_failed' });
  });

  it('opens, refuses, pushes and closes modals as the app answers', async () => {
    app.action('approve', async ({ ack, body, client: web }) => {
      await ack();
      if (body.type !== 'block_actions') return;
      await web.views.open({ trigger_id: body.trigger_id, view: modal('ask', 'Why?') });
    });
    app.view('ask', async ({ ack, view }) => {
      const reason = view.state.values['reason']?.['text']?.value ?? '';
      if (reason === 'no') await ack({ response_action: 'errors', errors: { reason: 'Say more.' } });
      else await ack({ response_action: 'push', view: modal('more', `You said ${reason}`) });
    });
    app.view('more', async ({ ack }) => ack({ response_action: 'clear' }));
    await app.start();
    const person = client.asUser(USERS.onCall);
    await person.press(await postCard(), { actionId: 'approve' });
    const view = await client.waitForView(USERS.onCall);
    const form = (text: string) => ({ reason: { text: { kind: 'text' as const, value: text } } });
    expect(await person.submit(view)).toMatchObject({
      errors: { reason: expect.stringContaining('required') },
    });
    expect(await person.submit(view, form('no'))).toEqual({ ok: true, errors: { reason: 'Say more.' } });
    expect(await person.submit(view, form('because'))).toEqual({ ok: true });
    const pushed = await client.waitForView(USERS.onCall, (each) => each.callback_id === 'more');
    expect(pushed.previous_view_id).toBe(view.id);
    expect(await person.submit(pushed, form('x'))).toEqual({ ok: true });
    expect((await client.snapshot()).views[USERS.onCall]).toBeUndefined();
  });

  it('refuses a trigger that is too old, used twice, or made up', async () => {
    const codes: string[] = [];
    app.action('approve', async ({ ack, body, client: web }) => {
      await ack();
      if (body.type !== 'block_actions') return;
      const open = (trigger: string) =>
        web.views.open({ trigger_id: trigger, view: modal('ask', 'Why?') }).then(
          () => codes.push('ok'),
          (error: { data?: { error?: string } }) => codes.push(error.data?.error ?? 'no code'),
        );
      await open(body.trigger_id);
      await open(body.trigger_id);
      await open('1.made-up');
    });
    await app.start();
    const message = await postCard();
    await client.asUser(USERS.onCall).press(message, { actionId: 'approve' });
    await expect.poll(() => codes).toEqual(['ok', 'exchanged_trigger_id', 'invalid_trigger_id']);
    await client.control('timing', { triggerMs: -1 });
    await client.asUser(USERS.onCall).press(message, { actionId: 'approve' });
    await expect.poll(() => codes[3]).toBe('expired_trigger_id');
  });

  it('runs a slash command and shows the acknowledgement to that user only', async () => {
    app.command('/sentry', async ({ ack, command }) =>
      ack(`asked: ${command.text} in ${command.channel_name}`),
    );
    await app.start();
    expect(await client.asUser(USERS.admin).command(CHANNELS.general, '/sentry why INC-1')).toEqual({
      ok: true,
    });
    await client.waitForEphemeral(USERS.admin, (each) => each.text === 'asked: why INC-1 in general');
    expect(await client.messages({ channel: CHANNELS.general })).toEqual([]);
    expect(await client.asUser(USERS.admin).command(CHANNELS.general, '/unknown')).toMatchObject({
      error: 'unknown_command',
    });
  });

  it('runs a message shortcut and publishes a home view', async () => {
    app.shortcut('investigate_message', async ({ ack, shortcut, respond }) => {
      await ack();
      if (shortcut.type === 'message_action') await respond(`looking at ${shortcut.message_ts}`);
    });
    app.event('app_home_opened', async ({ event, client: web }) => {
      await web.views.publish({
        user_id: event.user,
        view: { type: 'home', blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'all quiet' } }] },
      });
    });
    await app.start();
    const { ts } = await client.control('post-as-app', { text: 'disk full' });
    const alert = await client.waitForMessage((each) => each.ts === ts);
    expect(await client.asUser(USERS.stranger).shortcut(alert, 'investigate_message')).toEqual({ ok: true });
    await client.waitForEphemeral(USERS.stranger, (each) => each.text === `looking at ${String(ts)}`);
    await client.asUser(USERS.admin).openHome();
    await expect
      .poll(async () => JSON.stringify((await client.snapshot()).homes[USERS.admin]))
      .toContain('all quiet');
  });

  it("hears other apps' alerts, classic and modern, and their edits", async () => {
    const heard: string[] = [];
    app.message(async ({ message }) => {
      if (message.subtype === 'message_changed') heard.push('changed');
      else if (message.subtype === 'bot_message')
        heard.push(`classic ${message.bot_id} ${JSON.stringify(message.attachments)}`);
      else if ('app_id' in message) heard.push(`modern ${String(message.app_id)}`);
    });
    await app.start();
    const { ts } = await client.control('post-as-app', {
      attachments: [{ title: '[FIRING:1] x', color: 'danger' }],
    });
    await client.control('post-as-app', { kind: 'modern', text: 'firing' });
    await client.control('update-as-app', { channel: CHANNELS.alerts, ts: String(ts), text: 'resolved' });
    await expect.poll(() => heard.length).toBe(3);
    expect(heard[0]).toContain('classic B0ALERTMANAGER [{"title":"[FIRING:1] x"');
    expect(heard.slice(1)).toEqual(['modern A0ALERTMANAGER', 'changed']);
  });
});

describe('delivery in Socket Mode', () => {
  it('delivers each event to exactly one of several connections', async () => {
    const second = boltApp();
    const got: string[] = [];
    for (const [name, each] of [
      ['first', app],
      ['second', second],
    ] as const) {
      each.event('app_mention', async ({ event }) => void got.push(`${name} ${event.text}`));
      await each.start();
    }
    await client.waitForBot(2);
    for (let n = 0; n < 20; n += 1) await client.asUser(USERS.onCall).say(CHANNELS.alerts, `@sentry ${n}`);
    await expect.poll(() => got.length).toBe(20);
    await sleep(200);
    expect(new Set(got.map((each) => each.split(' ').at(-1))).size).toBe(20);
    expect(got.filter((each) => each.startsWith('first')).length).toBeGreaterThan(0);
    expect(got.filter((each) => each.startsWith('second')).length).toBeGreaterThan(0);
    await second.stop();
  });

  it('delivers an event again, with its retry number, until it is acknowledged', async () => {
    const attempts: unknown[] = [];
    app.use(async ({ context, body, next }) => {
      if ('event' in body && body['event'].type === 'app_mention')
        attempts.push([context.retryNum, context.retryReason]);
      await next();
    });
    await client.asUser(USERS.onCall).say(CHANNELS.alerts, '@sentry nobody is connected yet');
    await client.control('timing', { retryFactor: 0.02 });
    await app.start();
    await expect.poll(() => attempts.length).toBeGreaterThan(0);
    expect(attempts[0]).toEqual([expect.any(Number), 'no_connection']);
  });

  it('loses and doubles events on request', async () => {
    const ids: string[] = [];
    app.event('app_mention', async ({ body }) => void ids.push(body.event_id));
    await app.start();
    await client.control('lose-events', { times: 1, event: 'app_mention' });
    await client.asUser(USERS.onCall).say(CHANNELS.alerts, '@sentry lost');
    await client.control('double-events', { times: 1, event: 'app_mention' });
    await client.asUser(USERS.onCall).say(CHANNELS.alerts, '@sentry twice');
    await expect.poll(() => ids.length).toBe(2);
    await sleep(100);
    expect(new Set(ids).size).toBe(1);
  });

  it('comes back after a disconnect and hears what was said meanwhile', async () => {
    const heard: string[] = [];
    app.event('app_mention', async ({ event }) => void heard.push(event.text));
    await app.start();
    await client.control('timing', { retryFactor: 0.1 });
    await client.control('disconnect', { how: 'refresh' });
    await client.asUser(USERS.onCall).say(CHANNELS.alerts, '@sentry still there?');
    await expect.poll(() => heard.length).toBe(1);
  });

  it('streams in a thread, as one message that grows, and refuses what Slack refuses', async () => {
    const streamed: string[] = [];
    app.event('app_mention', async ({ event, client: web }) => {
      const stream = web.chatStream({
        channel: event.channel,
        thread_ts: event.ts,
        recipient_user_id: String(event.user),
        recipient_team_id: 'T0PLAYGROUND',
        buffer_size: 1,
      });
      await stream.append({ markdown_text: '**one' });
      await stream.append({
        markdown_text: ' two**',
        chunks: [{ type: 'task_update', id: 't', title: 'look', status: 'complete' }],
      });
      await web.chat
        .update({ channel: event.channel, ts: String(stream.ts), text: 'x' })
        .catch((error: Error) => streamed.push(error.message));
      await stream.stop({ markdown_text: ' three' });
      await web.chat
        .appendStream({ channel: event.channel, ts: String(stream.ts), markdown_text: 'late' })
        .catch((error: Error) => streamed.push(error.message));
      await web.chat
        .startStream({ channel: event.channel, thread_ts: event.ts, markdown_text: 'x' })
        .catch((error: Error) => streamed.push(error.message));
    });
    await app.start();
    await client.asUser(USERS.onCall).say(CHANNELS.alerts, '@sentry stream');
    await expect.poll(() => streamed.length).toBe(3);
    expect(streamed[0]).toContain('streaming_state_conflict');
    expect(streamed[1]).toContain('message_not_in_streaming_state');
    expect(streamed[2]).toContain('missing_recipient_user_id');
    const [message] = (await client.messages()).filter((each) => each.bot_id === SENTRY_APP.botId);
    expect(message?.text).toBe('**one two** three');
    expect(message?.streaming_state).toBeUndefined();
    expect(textOf(message ?? { text: '' })).toContain('look');
  });
});

async function postCard() {
  const posted = await app.client.chat.postMessage({
    channel: CHANNELS.alerts,
    text: 'card',
    blocks: [
      {
        type: 'actions',
        block_id: 'decision',
        elements: [
          {
            type: 'button',
            action_id: 'approve',
            text: { type: 'plain_text', text: 'Approve' },
            value: 'plan-1',
          },
        ],
      },
    ],
  });
  return client.waitForMessage((each) => each.ts === posted.ts);
}

function modal(callbackId: string, title: string) {
  return {
    type: 'modal' as const,
    callback_id: callbackId,
    title: { type: 'plain_text' as const, text: title.slice(0, 24) },
    submit: { type: 'plain_text' as const, text: 'Send' },
    blocks: [
      {
        type: 'input' as const,
        block_id: 'reason',
        label: { type: 'plain_text' as const, text: 'Reason' },
        element: { type: 'plain_text_input' as const, action_id: 'text' },
      },
    ],
  };
}
