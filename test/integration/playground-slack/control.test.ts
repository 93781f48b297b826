import { setTimeout as sleep } from 'node:timers/promises';
import { LogLevel, WebClient } from '@slack/web-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';
import { rawBot } from './raw-bot.ts';

let slack: LocalSlack;
let client: LocalSlackClient;
const channel = CHANNELS.alerts;

function webClient(retries = 0): WebClient {
  return new WebClient(SENTRY_APP.botToken, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries, minTimeout: 10, maxTimeout: 10 },
    rejectRateLimitedCalls: true,
    timeout: 60_000,
    logLevel: LogLevel.ERROR,
  });
}

beforeEach(async () => {
  slack = await createLocalSlack();
  client = new LocalSlackClient(slack.url);
});

afterEach(() => slack.close());

describe('rate limits', () => {
  it('allow a burst of five posts to a channel, then about one a second, per channel', async () => {
    const web = webClient();
    // At once: a slow machine would be given the next one meanwhile.
    const burst = await Promise.allSettled(
      Array.from({ length: 6 }, (_, n) => web.chat.postMessage({ channel, text: `${n}` })),
    );
    expect(burst.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { retryAfter: 1 } },
    ]);
    await web.chat.postMessage({ channel: CHANNELS.admin, text: 'another channel' });
    await sleep(1100);
    await web.chat.postMessage({ channel, text: 'later' });
    expect((await client.counters()).calls['chat.postMessage']).toMatchObject({
      total: 8,
      ok: 7,
      rateLimited: 1,
    });
  });

  it('stop a tier-3 method after fifty in a minute, and can be sped up and turned off', async () => {
    const web = webClient();
    const { ts } = await web.chat.postMessage({ channel, text: 'x' });
    const update = () => web.chat.update({ channel, ts: String(ts), text: 'y' });
    for (let n = 0; n < 50; n += 1) await update();
    // One more is allowed each 1.2 s that this has taken.
    await expect(Promise.all(Array.from({ length: 30 }, update))).rejects.toMatchObject({
      retryAfter: expect.any(Number),
    });
    await client.control('rate-limits', { enabled: false });
    await update();
  });
});

describe('failures on request', () => {
  it('answers 429 with Retry-After for the next calls of one method, then goes on', async () => {
    await client.control('fail', {
      kind: 'rate_limited',
      method: 'chat.postMessage',
      times: 2,
      retry_after_s: 7,
    });
    const web = webClient();
    await web.auth.test();
    for (let n = 0; n < 2; n += 1) {
      await expect(web.chat.postMessage({ channel, text: 'x' })).rejects.toMatchObject({ retryAfter: 7 });
    }
    await web.chat.postMessage({ channel, text: 'x' });
    expect((await client.messages({ channel })).length).toBe(1);
    expect((await client.counters()).calls['chat.postMessage']).toMatchObject({ rateLimited: 2, early: 2 });
  });

  it('shows a duplicate post when a call fails after it took effect and is retried', async () => {
    await client.control('fail', { kind: 'server_error_after', method: 'chat.postMessage' });
    await webClient(1).chat.postMessage({ channel, text: 'once?' });
    const { duplicates } = await client.counters();
    expect(duplicates).toMatchObject([{ copies: 2, message: { text: 'once?' } }]);
  });

  it('shows none when it fails before, or the connection is cut before', async () => {
    await client.control('fail', { kind: 'server_error', method: 'chat.postMessage' });
    await client.control('fail', { kind: 'hang_up', method: 'chat.postMessage' });
    await webClient(3).chat.postMessage({ channel, text: 'once' });
    expect((await client.counters()).duplicates).toEqual([]);
    expect((await client.messages({ channel })).length).toBe(1);
  });

  it('forgets chosen methods and chosen fields, until reset', async () => {
    const web = webClient();
    await client.control('unknown-methods', { methods: ['chat.startStream', 'usergroups.users.list'] });
    await client.control('drop-fields', { fields: ['metadata'] });
    await expect(web.usergroups.users.list({ usergroup: 'S0ONCALL' })).rejects.toThrow('unknown_method');
    const metadata = { event_type: 'a', event_payload: {} };
    await web.chat.postMessage({ channel, text: 'x', metadata });
    expect((await client.messages({ channel }))[0]?.metadata).toBeUndefined();
    await client.control('reset', {});
    await web.usergroups.users.list({ usergroup: 'S0ONCALL' });
    await web.chat.postMessage({ channel, text: 'y', metadata });
    expect((await client.messages({ channel }))[1]?.metadata).toEqual(metadata);
  });

  it('hangs while frozen and goes on when thawed; delays one method', async () => {
    const web = webClient();
    await client.control('freeze', { frozen: true });
    let done = false;
    const call = web.auth.test().then(() => {
      done = true;
    });
    await sleep(150);
    expect(done).toBe(false);
    await client.control('freeze', { frozen: false });
    await call;
    await client.control('delay', { ms: 2_000, method: 'auth.test' });
    const answered: string[] = [];
    const slow = web.auth.test().then(() => answered.push('auth.test'));
    await web.api.test().then(() => answered.push('api.test'));
    await slow;
    expect(answered).toEqual(['api.test', 'auth.test']);
  });

  it('names what it does not know', async () => {
    const response = await fetch(`${slack.url}/control/nonsense`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: 'unknown_action' });
  });
});

describe('a response_url', () => {
  it('works five times and no more, and not when it is too old', async () => {
    const url = await responseUrl();
    const use = () =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'x' }),
      }).then((each) => each.status);
    const statuses = [];
    for (let n = 0; n < 6; n += 1) statuses.push(await use());
    expect(statuses).toEqual([200, 200, 200, 200, 200, 404]);
    await client.control('timing', { responseUrlMs: -1 });
    const old = await responseUrl();
    expect(
      (
        await fetch(old, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"text":"x"}',
        })
      ).status,
    ).toBe(404);
  });

  /** What a command carries. */
  async function responseUrl(): Promise<string> {
    let url = '';
    const socket = await rawBot(slack.url, ({ payload }) => {
      url = String(payload['response_url']);
    });
    await client.waitForBot();
    await client.asUser(USERS.onCall).command(channel, '/sentry status');
    socket.close();
    return url;
  }
});
