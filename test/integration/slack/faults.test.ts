import { setTimeout as sleep } from 'node:timers/promises';
import { WebClient } from '@slack/web-api';
import { afterEach, expect, it } from 'vitest';
import { SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { ACTION, wholeIncident } from '../../support/incident-record.ts';
import { patience } from '../../support/patience.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { cardOf, press } from './card.ts';

/** A whole incident, with a card that a person presses and an end, while Slack fails all the time: its thread ends as if nothing had been. */
let scene: SlackScene;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
  await scene.close();
});

const SLOW_MS = 90_000;
const TEST_MS = 5 * SLOW_MS * patience;
const BELOW = ['live:1', `action:${ACTION}`, 'summary:1'];
const CARD_AT = wholeIncident.findIndex(({ type }) => type === 'action.proposed');
const APPROVED_AT = wholeIncident.findIndex(({ type }) => type === 'action.approved');

async function slots(id: IncidentId): Promise<readonly string[]> {
  return (await scene.messages())
    .map((message) => message.blocks?.[0]?.block_id ?? '')
    .filter((block) => block.startsWith(`sentry:${id}:`))
    .map((block) => block.slice(`sentry:${id}:`.length).replace(/:[0-9a-f]{8}$/, ''));
}

/** Again and again until the test is over. */
function every(ms: number, work: () => Promise<unknown>): void {
  const over = new AbortController();
  const done = (async () => {
    while (!over.signal.aborted) {
      await work();
      await sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  stops.push(async () => {
    over.abort();
    await done;
  });
}

/** `between`: what goes wrong before each thing that happens. */
async function playIncident(
  between: (n: number) => Promise<unknown> = async () => undefined,
): Promise<IncidentId> {
  const id = await scene.incident();
  for (const [n, event] of wholeIncident.entries()) {
    if (n === 0 || (n > CARD_AT && n <= APPROVED_AT)) continue;
    await between(n);
    if (n !== CARD_AT) {
      await scene.append(id, event);
      continue;
    }
    await scene.propose(id);
    await eventually(async () => expect(await slots(id)).toContain(`action:${ACTION}`), SLOW_MS);
    // As a person does it: again, where nothing seems to have come of it.
    await eventually(async () => {
      if (scene.decisions.length === 0) await press(scene, await cardOf(scene), 'sentry_approve');
      expect(scene.decisions.length).toBeGreaterThan(0);
    }, SLOW_MS);
  }
  return id;
}

async function endsWhole(id: IncidentId, above: readonly string[] = ['root']): Promise<void> {
  await eventually(async () => {
    expect(await slots(id)).toEqual([...above, ...BELOW]);
    expect(await scene.sql`SELECT FROM slack_post WHERE incident_id = ${id} AND ts IS NULL`).toEqual([]);
    const drawn = await scene.sql`SELECT FROM slack_lease WHERE incident_id = ${id} AND drawn_mark <> ''`;
    expect(drawn).toHaveLength(1);
  }, SLOW_MS);
  const messages = (await scene.messages()).filter(({ blocks }) =>
    blocks?.[0]?.block_id?.startsWith(`sentry:${id}:`),
  );
  const [row] = await scene.sql`SELECT thread_ts FROM incident WHERE id = ${id}`;
  for (const { ts, thread_ts } of messages) expect({ thread_ts: thread_ts ?? ts }).toEqual(row);
  const approved = await scene.sql`
    SELECT FROM event WHERE incident_id = ${id} AND type = 'action.approved'`;
  expect(approved).toHaveLength(1);
  expect((await scene.counters()).duplicates).toEqual([]);
}

it(
  'told to wait again and again, it calls no sooner than it may, and says all of it [M5]',
  async () => {
    scene = await slackScene();
    await scene.bot();
    const id = await playIncident(async (n) => {
      if (n % 6 !== 1) return;
      for (const method of ['chat.postMessage', 'chat.update'])
        await scene.control('fail', { kind: 'rate_limited', method, times: 1, retry_after_s: 2 });
    });
    await endsWhole(id);
    const { calls } = await scene.counters();
    expect(calls['chat.postMessage']?.rateLimited).toBeGreaterThan(0);
    for (const call of Object.values(calls)) expect(call.early).toBe(0);
  },
  TEST_MS,
);

it(
  'told to wait for a minute, with connections that end every ten seconds and deliveries that are lost, it calls no sooner and says all of it [M5]',
  async () => {
    scene = await slackScene();
    await scene.bot();
    await scene.control('lose-events', { times: 10_000 });
    every(10_000, () => scene.control('disconnect', { how: 'refresh' }));
    const id = await playIncident(async (n) => {
      if (n !== 2) return;
      const limited = { kind: 'rate_limited', times: 1 } as const;
      await scene.control('fail', { ...limited, method: 'chat.postMessage', retry_after_s: 60 });
      await scene.control('fail', { ...limited, method: 'chat.update', retry_after_s: 5 });
    });
    await endsWhole(id);
    const { calls } = await scene.counters();
    expect(calls['chat.postMessage']?.rateLimited).toBe(1);
    for (const call of Object.values(calls)) expect(call.early).toBe(0);
  },
  TEST_MS,
);

it(
  'goes on below where its first message was deleted in the middle [M5]',
  async () => {
    scene = await slackScene();
    await scene.bot();
    const web = new WebClient(SENTRY_APP.botToken, { slackApiUrl: scene.slack.apiUrl });
    const id = await playIncident(async (n) => {
      if (n !== APPROVED_AT + 1) return;
      const [root] = await scene.messages();
      if (root) await web.chat.delete({ channel: root.channel, ts: root.ts });
    });
    // What is left of it in Slack is “This message was deleted”, with the thread below.
    await endsWhole(id, []);
  },
  TEST_MS,
);

it(
  'a channel that takes nothing for a while is named as the trouble, and told all once it does [M5]',
  async () => {
    scene = await slackScene();
    const bot = await scene.bot();
    await scene.control('fail', {
      kind: 'error',
      error: 'is_archived',
      method: 'chat.postMessage',
      times: 10_000,
    });
    const id = await scene.incident(wholeIncident.slice(1, 9));
    await eventually(() => expect(bot.health().problem).toContain('archived'), SLOW_MS);
    expect(await slots(id)).toEqual([]);
    await scene.control('reset', {});
    // Nobody need wait for half a minute to be over: a new connection is a sign that Slack can be reached.
    await scene.control('disconnect', { how: 'abrupt' });
    await eventually(async () => expect(await slots(id)).toEqual(['root', 'live:1']), SLOW_MS);
  },
  TEST_MS,
);

it(
  'posts and edits that fail, are cut off or are told to wait, events that come twice and connections that end, all at once and by two processes, leave one whole thread, in order, and nothing twice [M5]',
  async () => {
    scene = await slackScene();
    await scene.control('double-events', { times: 10_000 });
    await Promise.all([scene.bot(), scene.bot()]);
    let ends = 0;
    every(2_000, () => scene.control('disconnect', { how: ends++ % 2 === 0 ? 'abrupt' : 'refresh' }));
    const kinds = ['server_error_after', 'hang_up', 'hang_up_after', 'server_error'] as const;
    const id = await playIncident(async (n) => {
      if (n % 6 === 1)
        for (const method of ['chat.postMessage', 'chat.update'])
          await scene.control('fail', { kind: kinds[((n - 1) / 6) % kinds.length]!, method, times: 1 });
      if (n % 5 === 0)
        await scene.control('fail', {
          kind: 'rate_limited',
          method: 'chat.postMessage',
          times: 1,
          retry_after_s: 1,
        });
    });
    await endsWhole(id);
    expect(scene.decisions.every(({ by }) => by === USERS.onCall)).toBe(true);
  },
  TEST_MS,
);
