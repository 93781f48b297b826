import { afterEach, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import type { Row } from '../../support/typed.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const leftBehind = (key: string, secondsAgo: number, event: Readonly<Record<string, string>>) => scene.sql`
  INSERT INTO slack_inbox (event_key, body, received_at)
  VALUES (${`event:${key}`}, ${scene.sql.json({ type: 'event_callback', event_id: key, team_id: 'T0PLAYGROUND', event })},
          clock_timestamp() - make_interval(secs => ${secondsAgo}))`;

it.each([
  ['takes no more', 'is_archived', true],
  ['does not take until somebody sets it right', 'missing_scope', false],
])(
  'what a dead process left is taken up behind an event whose answer Slack %s',
  async (_, error, isFinal) => {
    scene = await slackScene();
    const answer = await scene.act('dm.open', { userId: USERS.onCall });
    if (!answer.ok || !answer.channel) throw new Error('no direct message');
    await scene.control('fail', {
      method: 'chat.postMessage',
      kind: 'error',
      error,
      times: 1_000,
    });
    const message = { type: 'message', ts: '1700000000.000100' };
    await leftBehind('Ev1', 60, {
      ...message,
      channel: answer.channel,
      channel_type: 'im',
      user: USERS.onCall,
      text: 'help',
    });
    await leftBehind('Ev2', 59, {
      ...message,
      channel: CHANNELS.alerts,
      bot_id: 'B0ALERTMANAGER',
      text: 'FIRING: disk',
    });
    await scene.bot();
    await eventually(() => expect(scene.alerts.map((each) => each['text'])).toContain('FIRING: disk'));
    await eventually(async () => {
      const [row] =
        await scene.sql<Row>`SELECT last_error, processed_at FROM slack_inbox WHERE event_key = 'event:Ev1'`;
      expect(row?.['processed_at']).toBeNull();
      expect(row?.['last_error']).toEqual(isFinal ? expect.stringContaining(error) : null);
    });
  },
);
