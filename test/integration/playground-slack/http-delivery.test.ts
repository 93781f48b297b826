import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { App, HTTPReceiver, LogLevel } from '@slack/bolt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';

let slack: LocalSlack;
let client: LocalSlackClient;

beforeEach(async () => {
  slack = await createLocalSlack({ timing: { ackMs: 300, retryFactor: 0.0005 } });
  client = new LocalSlackClient(slack.url);
});

afterEach(() => slack.close());

describe('a Bolt app over HTTP', () => {
  let app: App;

  async function start(signingSecret: string = SENTRY_APP.signingSecret): Promise<void> {
    const receiver = new HTTPReceiver({ signingSecret, logLevel: LogLevel.ERROR });
    app = new App({
      token: SENTRY_APP.botToken,
      receiver,
      convoStore: false,
      logLevel: LogLevel.ERROR,
      clientOptions: { slackApiUrl: slack.apiUrl, timeout: 60_000, retryConfig: { retries: 1 } },
    });
    const server = (await app.start({ port: 0, host: '127.0.0.1' })) as Server;
    const { port } = server.address() as AddressInfo;
    await client.control('events-url', { url: `http://127.0.0.1:${port}/slack/events`, verify: true });
  }

  afterEach(() => app.stop());

  it('passes the URL verification, hears events, commands, presses and view submissions', async () => {
    await start();
    app.event('app_mention', async ({ event, client: web }) => {
      await web.chat.postMessage({
        channel: event.channel,
        thread_ts: event.ts,
        text: 'card',
        blocks: [
          {
            type: 'actions',
            elements: [{ type: 'button', action_id: 'go', text: { type: 'plain_text', text: 'Go' } }],
          },
        ],
      });
    });
    app.action('go', async ({ ack, body, client: web }) => {
      await ack();
      if (body.type !== 'block_actions') return;
      const blocks = [{ type: 'section' as const, text: { type: 'mrkdwn' as const, text: 'sure?' } }];
      const title = { type: 'plain_text' as const, text: 'Sure?' };
      await web.views.open({
        trigger_id: body.trigger_id,
        view: { type: 'modal', callback_id: 'sure', title, submit: title, blocks },
      });
    });
    app.view('sure', async ({ ack, view }) => {
      await ack({
        response_action: 'update',
        view: { type: 'modal', title: { type: 'plain_text', text: 'Done' }, blocks: view.blocks },
      });
    });
    app.command('/sentry', async ({ ack }) => ack({ response_type: 'in_channel', text: 'for all' }));

    const person = client.asUser(USERS.onCall);
    await person.say(CHANNELS.alerts, '@sentry hello');
    const card = await client.waitForMessage((each) => each.text === 'card');
    expect(await person.press(card, { actionId: 'go' })).toEqual({ ok: true });
    expect(await person.submit(await client.waitForView(USERS.onCall))).toEqual({ ok: true });
    await client.waitForView(USERS.onCall, (each) => JSON.stringify(each.title).includes('Done'));
    expect(await person.command(CHANNELS.alerts, '/sentry help')).toEqual({ ok: true });
    await client.waitForMessage((each) => each.text === 'for all');
  });

  it('is not verified by an app with another signing secret', async () => {
    await expect(start('another-secret')).rejects.toThrow('url_not_verified');
  });
});

describe('retries over HTTP', () => {
  interface Seen {
    readonly num: string | undefined;
    readonly reason: string | undefined;
    readonly eventId: string;
  }
  let seen: Seen[];
  let app: Server;
  let respond: { status: number; noRetry?: boolean; afterMs?: number };

  beforeEach(async () => {
    seen = [];
    respond = { status: 200 };
    app = createServer(async (request, response) => {
      let text = '';
      for await (const part of request) text += String(part);
      const { event_id: eventId } = JSON.parse(text) as { event_id: string };
      const { 'x-slack-retry-num': num, 'x-slack-retry-reason': reason } = request.headers;
      seen.push({ num: num as string | undefined, reason: reason as string | undefined, eventId });
      setTimeout(() => {
        response.writeHead(respond.status, respond.noRetry === true ? { 'x-slack-no-retry': '1' } : {});
        response.end();
      }, respond.afterMs ?? 0);
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    await client.control('events-url', { url: `http://127.0.0.1:${(app.address() as AddressInfo).port}/` });
  });

  afterEach(() => {
    app.closeAllConnections();
    app.close();
  });

  it('tries three times more, numbered and with the reason, then gives the event up', async () => {
    respond = { status: 500 };
    await client.control('post-as-app', { text: 'alert' });
    await expect.poll(() => seen.length).toBe(4);
    expect(seen.map((each) => each.num)).toEqual([undefined, '1', '2', '3']);
    expect(seen.slice(1).map((each) => each.reason)).toEqual(['http_error', 'http_error', 'http_error']);
    expect(new Set(seen.map((each) => each.eventId)).size).toBe(1);
    await expect.poll(async () => (await client.deliveries()).at(-1)?.state).toBe('lost');
  });

  it('calls an answer after the deadline a timeout', async () => {
    respond = { status: 200, afterMs: 450 };
    await client.control('post-as-app', { text: 'alert' });
    await expect.poll(() => seen.length).toBeGreaterThan(1);
    expect(seen[1]).toMatchObject({ num: '1', reason: 'http_timeout' });
  });

  it('stops when the app asks for no retry', async () => {
    respond = { status: 500, noRetry: true };
    await client.control('post-as-app', { text: 'alert' });
    await expect.poll(async () => (await client.deliveries()).at(-1)?.state).toBe('lost');
    expect(seen.length).toBe(1);
  });
});
