import type { WebClient } from '@slack/web-api';
import { afterEach, expect, it } from 'vitest';
import { createHistory } from '../../../src/slack/inbound/history.ts';
import { quiet } from '../../support/quiet.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import type { Row } from '../../support/typed.ts';

const MISSED = 4_300;
const AT_ONCE = 25;

let scene: SlackScene;
afterEach(() => scene.close());

it(`of ${MISSED} messages missed at once none is skipped, and the oldest comes first [C7]`, {
  timeout: 400_000,
}, async () => {
  const warned: string[] = [];
  scene = await slackScene({
    log: { debug() {}, info() {}, warn: (_, text) => void warned.push(text), error() {} },
  });
  const first = await scene.bot();
  await eventually(async () => expect(await scene.sql`SELECT 1 FROM slack_cursor`).toHaveLength(1));
  await first.stop();
  await scene.control('lose-events', { times: MISSED, event: 'message' });
  for (let n = 0; n < MISSED; n += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, MISSED - n) }, (_, i) =>
        scene.control('post-as-app', { kind: 'classic', text: `FIRING: ${n + i}` }),
      ),
    );
  await scene.bot();
  await eventually(() => expect(scene.alerts.length).toBeGreaterThanOrEqual(MISSED), 300_000);
  const texts = new Set(scene.alerts.map((each) => each['text']));
  expect(texts.size).toBe(MISSED);
  const times = scene.alerts.map(({ ts }) => Number(ts));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(warned.filter((text) => text.startsWith('much was missed'))).not.toEqual([]);
});

it('what a server gives beyond what was asked for is not taken for new [L4]', async () => {
  scene = await slackScene();
  const at = (n: number) => ({ ts: `${1_700_000_000 + n}.000100`, text: `FIRING: ${n}` });
  const said = [at(1), at(2)];
  // It knows neither `oldest` nor `limit`.
  const client = { conversations: { history: async () => ({ messages: said.toReversed() }) } };
  const taken: unknown[] = [];
  const history = createHistory({
    client: client as unknown as WebClient,
    sql: scene.sql,
    log: quiet,
    channels: async () => ['C1'],
    take: async ({ text }) => void taken.push(text),
  });
  const cursor = async () => (await scene.sql<Row>`SELECT last_ts FROM slack_cursor WHERE channel = 'C1'`)[0];
  history.catchUp();
  await eventually(async () => expect(await cursor()).toEqual({ last_ts: at(2).ts }));
  said.push(at(3));
  history.catchUp();
  await eventually(async () => expect(await cursor()).toEqual({ last_ts: at(3).ts }));
  await history.stop();
  expect(taken).toEqual(['FIRING: 3']);
});
