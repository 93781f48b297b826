import { afterEach, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { readThreadOf } from '../../../src/app/thread-words.ts';
import { type SlackScene, slackScene } from '../../support/slack-scene.ts';

let scene: SlackScene;
afterEach(() => scene.close());

async function said(userId: string, text: string, threadTs?: string): Promise<string> {
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
  const answer = await scene.act('message.post', { userId, channel: CHANNELS.alerts, text, ...thread });
  if (!answer.ok || !answer.ts) throw new Error(JSON.stringify(answer));
  return answer.ts;
}

it('is what people wrote to each other below the first message, without mentions, secrets and what is told to Sentry', async () => {
  scene = await slackScene();
  const { workspace } = await scene.bot();
  const root = await said(USERS.onCall, 'shop-api is slow');
  await said(USERS.onCall, `<@${USERS.admin}> that’s my load test, <!channel>`, root);
  await said(USERS.admin, 'rotated to ghp_0123456789abcdefghijABCDEFGHIJ012345', root);
  await said(USERS.onCall, `<@${SENTRY_APP.botUserId}> hint: look at the pool`, root);
  await said(USERS.onCall, 'elsewhere');
  const read = await readThreadOf(workspace)(CHANNELS.alerts, root);
  expect(read.map(({ userId }) => userId)).toEqual([USERS.onCall, USERS.admin]);
  expect(read[0]?.text).toBe('@somebody that’s my load test, @somebody');
  expect(read[1]?.text).toMatch(/^rotated to /);
  expect(JSON.stringify(read)).not.toContain('ghp_');
  for (const { name } of read) expect(name).toMatch(/^[^@]+$/);
});

it('cannot be told where Slack refuses', async () => {
  scene = await slackScene();
  const { workspace } = await scene.bot();
  const root = await said(USERS.onCall, 'shop-api is slow');
  await scene.control('fail', {
    method: 'conversations.replies',
    kind: 'error',
    error: 'missing_scope',
    times: 1,
  });
  await expect(readThreadOf(workspace)(CHANNELS.alerts, root)).rejects.toThrow(/missing_scope/);
});
