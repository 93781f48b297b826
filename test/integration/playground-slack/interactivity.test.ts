import { LogLevel, WebClient } from '@slack/web-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';
import { rawBot } from './raw-bot.ts';

let slack: LocalSlack;
let client: LocalSlackClient;
let web: WebClient;
let socket: WebSocket;
let heard: Array<Readonly<Record<string, unknown>>>;
const channel = CHANNELS.alerts;
const plain = (text: string) => ({ type: 'plain_text' as const, text });
const option = (value: string) => ({ text: plain(value), value });

beforeEach(async () => {
  slack = await createLocalSlack({ rateLimits: { enabled: false } });
  client = new LocalSlackClient(slack.url);
  web = new WebClient(SENTRY_APP.botToken, { slackApiUrl: slack.apiUrl, logLevel: LogLevel.ERROR });
  heard = [];
  socket = await rawBot(slack.url, (envelope) => void heard.push(envelope.payload));
  await client.waitForBot();
});

afterEach(async () => {
  socket.close();
  await slack.close();
});

function lastOf(type: string): Readonly<Record<string, unknown>> {
  const found = heard.findLast((each) => each['type'] === type);
  if (found === undefined) throw new Error(`nothing of type ${type} was sent`);
  return found;
}

const controls = [
  {
    type: 'actions' as const,
    block_id: 'controls',
    elements: [
      {
        type: 'static_select' as const,
        action_id: 'pick',
        options: [option('a'), option('b')],
        initial_option: option('a'),
      },
      { type: 'overflow' as const, action_id: 'more', options: [option('x'), option('y')] },
      { type: 'datepicker' as const, action_id: 'day', initial_date: '2026-01-02' },
      { type: 'checkboxes' as const, action_id: 'boxes', options: [option('1'), option('2')] },
      { type: 'users_select' as const, action_id: 'who' },
      { type: 'button' as const, action_id: 'go', text: plain('Go'), value: 'v' },
    ],
  },
];

describe('block_actions', () => {
  async function card() {
    const { ts } = await web.chat.postMessage({ channel, text: 'card', blocks: controls });
    return client.waitForMessage((each) => each.ts === ts);
  }

  it('carry the choice and the state of everything else', async () => {
    const message = await card();
    const person = client.asUser(USERS.onCall);
    const form = { controls: { boxes: { kind: 'options', values: ['2'] } } } as const;
    await person.press(message, { actionId: 'pick', input: { kind: 'option', value: 'b' }, form });
    const payload = lastOf('block_actions');
    expect(payload).toMatchObject({
      user: { id: USERS.onCall },
      container: { type: 'message', message_ts: message.ts, channel_id: channel, is_ephemeral: false },
      message: { ts: message.ts, text: 'card' },
      actions: [
        { type: 'static_select', action_id: 'pick', block_id: 'controls', selected_option: { value: 'b' } },
      ],
    });
    expect(payload['state']).toMatchObject({
      values: {
        controls: {
          pick: { selected_option: { value: 'a' } },
          day: { type: 'datepicker', selected_date: '2026-01-02' },
          boxes: { selected_options: [{ value: '2' }] },
          who: { selected_user: null },
        },
      },
    });
    await person.press(message, { actionId: 'more', input: { kind: 'option', value: 'y' } });
    expect(lastOf('block_actions')['actions']).toMatchObject([
      { type: 'overflow', selected_option: { value: 'y' } },
    ]);
    await person.press(message, { actionId: 'day', input: { kind: 'date', value: '2026-03-04' } });
    expect(lastOf('block_actions')['actions']).toMatchObject([{ selected_date: '2026-03-04' }]);
    await person.press(message, { actionId: 'who', input: { kind: 'id', value: USERS.admin } });
    expect(lastOf('block_actions')['actions']).toMatchObject([{ selected_user: USERS.admin }]);
  });

  it('are refused for an option that is not there, a button that is gone, and a person outside the channel', async () => {
    const message = await card();
    const person = client.asUser(USERS.onCall);
    const wrong = await person.press(message, { actionId: 'pick', input: { kind: 'option', value: 'zzz' } });
    expect(wrong).toMatchObject({ ok: false, error: 'invalid_input' });
    await web.chat.update({ channel, ts: message.ts, text: 'no buttons' });
    expect(await person.press(message, { actionId: 'go' })).toMatchObject({
      ok: false,
      error: 'action_not_found',
    });
    const { ts } = await web.chat.postMessage({ channel: CHANNELS.admin, text: 'admins', blocks: controls });
    const admins = await client.waitForMessage((each) => each.ts === ts);
    const refused = await client.asUser(USERS.stranger).press(admins, { actionId: 'go' });
    expect(refused).toMatchObject({ ok: false, error: 'not_in_channel' });
    expect(heard.filter((each) => each['type'] === 'block_actions')).toEqual([]);
  });

  it('of an ephemeral message have no message, and replace or remove it through the response_url', async () => {
    await web.chat.postEphemeral({ channel, user: USERS.onCall, text: 'only you', blocks: controls });
    const shown = await client.waitForEphemeral(USERS.onCall);
    await client.asUser(USERS.onCall).press(shown, { actionId: 'go' });
    const payload = lastOf('block_actions');
    expect(payload['message']).toBeUndefined();
    expect(payload['container']).toMatchObject({ is_ephemeral: true });
    const respond = (body: object) =>
      fetch(String(payload['response_url']), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await respond({ replace_original: true, text: 'done' });
    expect(
      (await client.waitForEphemeral(USERS.onCall, (each) => each.text === 'done')).blocks,
    ).toBeUndefined();
    await respond({ delete_original: true });
    expect((await client.snapshot()).ephemerals).toEqual([]);
  });

  it('of the home view carry the view', async () => {
    await web.views.publish({
      user_id: USERS.admin,
      view: { type: 'home', private_metadata: 'pm', blocks: controls },
    });
    const view = (await client.snapshot()).homes[USERS.admin];
    if (view === undefined) throw new Error('no home view');
    await client.asUser(USERS.admin).pressIn(view, { actionId: 'go' });
    expect(lastOf('block_actions')).toMatchObject({
      container: { type: 'view', view_id: view.id },
      view: { type: 'home', private_metadata: 'pm' },
      actions: [{ value: 'v' }],
    });
  });
});

describe('modals', () => {
  it('keep what was sent for optional inputs, and tell of being closed when asked', async () => {
    const { ts } = await web.chat.postMessage({ channel, text: 'card', blocks: controls });
    const message = await client.waitForMessage((each) => each.ts === ts);
    await client.asUser(USERS.onCall).press(message, { actionId: 'go' });
    const trigger = String(lastOf('block_actions')['trigger_id']);
    await web.views.open({
      trigger_id: trigger,
      view: {
        type: 'modal',
        title: plain('Ask'),
        submit: plain('Send'),
        notify_on_close: true,
        external_id: 'ask-1',
        blocks: [
          {
            type: 'input',
            block_id: 'b',
            optional: true,
            label: plain('L'),
            element: { type: 'plain_text_input', action_id: 'a' },
          },
          {
            type: 'input',
            block_id: 'n',
            label: plain('N'),
            element: { type: 'number_input', action_id: 'a', is_decimal_allowed: false },
          },
        ],
      },
    });
    const view = await client.waitForView(USERS.onCall);
    const person = client.asUser(USERS.onCall);
    const words = { n: { a: { kind: 'text', value: 'many' } } } as const;
    expect(await person.submit(view, words)).toMatchObject({
      errors: { n: expect.stringContaining('number') },
    });
    await web.views.update({
      external_id: 'ask-1',
      hash: view.hash,
      view: { type: 'modal', title: plain('Again'), notify_on_close: true, blocks: controls },
    });
    await expect(
      web.views.update({
        view_id: view.id,
        hash: view.hash,
        view: { type: 'modal', title: plain('x'), blocks: controls },
      }),
    ).rejects.toThrow('hash_conflict');
    await person.close(
      await client.waitForView(USERS.onCall, (each) => JSON.stringify(each.title).includes('Again')),
    );
    expect((await client.snapshot()).views[USERS.onCall]).toBeUndefined();
    expect(lastOf('view_closed')).toMatchObject({ view: { id: view.id }, is_cleared: false });
  });
});

describe('people', () => {
  it('type mentions, links and markup as Slack sends them', async () => {
    await client
      .asUser(USERS.onCall)
      .say(channel, '@sentry see https://e.com/?a=1&b=2 <script> @oncall #general');
    const message = await client.waitForMessage((each) => each.user === USERS.onCall);
    expect(message.text).toBe(
      '<@U0SENTRY> see <https://e.com/?a=1&amp;b=2> &lt;script&gt; <!subteam^S0ONCALL> <#C0GENERAL|general>',
    );
    expect(JSON.stringify(message.blocks)).toContain('"type":"user","user_id":"U0SENTRY"');
  });

  it('are told which field of an action is missing', async () => {
    const response = await fetch(`${slack.url}/page/api/message.post`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ userId: USERS.onCall, channel }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ reason: 'message.post: text must be a JSON string' });
  });

  it('edit and delete what they wrote and nothing else, and the bot hears of it', async () => {
    const answer = await client.asUser(USERS.onCall).say(channel, 'tpyo');
    if (!answer.ok || answer.ts === undefined) throw new Error('not posted');
    const at = { channel, ts: answer.ts };
    expect(await client.act('message.edit', { ...at, userId: USERS.admin, text: 'x' })).toMatchObject({
      error: 'cant_update_message',
    });
    await client.act('message.edit', { ...at, userId: USERS.onCall, text: 'typo' });
    await client.act('message.delete', { ...at, userId: USERS.onCall });
    const subtypes = () => heard.map((each) => (each['event'] as { subtype?: string } | undefined)?.subtype);
    await expect.poll(subtypes).toEqual([undefined, 'message_changed', 'message_deleted']);
  });
});
