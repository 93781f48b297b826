import { afterEach, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import { createInbox } from '../../../src/slack/inbound/inbox.ts';
import { quiet } from '../../support/quiet.ts';
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

/** An inbox of its own over the scene's record, that sweeps what lies there. */
async function swept(
  row: { readonly attempts?: number; readonly takes?: number; readonly minutesAgo?: number },
  handle: () => Promise<void>,
) {
  scene = await slackScene();
  const { attempts = 0, takes = 0, minutesAgo = 1 } = row;
  await scene.sql`
    INSERT INTO slack_inbox (event_key, body, received_at, attempts, takes, taken_at)
    VALUES ('event:Ev1', '{}', clock_timestamp() - make_interval(mins => ${minutesAgo}), ${attempts}, ${takes},
            CASE WHEN ${takes} > 0 THEN clock_timestamp() - make_interval(mins => ${minutesAgo}) END)`;
  const errors: unknown[] = [];
  const log = { ...quiet, error: (what: object, text: string) => void errors.push({ ...what, text }) };
  let givenUp = 0;
  const inbox = createInbox({
    sql: scene.sql,
    log,
    handle,
    ignore: () => false,
    givenUp: () => {
      givenUp += 1;
    },
  });
  inbox.start();
  const state = async () =>
    (
      await scene.sql<Row>`SELECT attempts, takes, last_error, processed_at IS NOT NULL AS done FROM slack_inbox`
    )[0];
  return { errors, state, givenUp: () => givenUp, stop: () => inbox.stop() };
}

it('kills during its handling are no failures: an event taken up five times in vain is handled [C11]', async () => {
  let handled = 0;
  const { errors, state, givenUp, stop } = await swept({ takes: 5 }, async () => {
    handled += 1;
  });
  await eventually(async () => expect(await state()).toMatchObject({ attempts: 0, done: true }));
  expect(handled).toBe(1);
  expect(givenUp()).toBe(0);
  expect(errors).toEqual([]);
  await stop();
});

it('an event whose handling failed five times is given up, and that is said with its reason [C11]', async () => {
  const { errors, state, stop } = await swept({ attempts: 4, minutesAgo: 5 }, () =>
    Promise.reject(new Error('no such channel')),
  );
  await eventually(
    async () =>
      expect(await state()).toMatchObject({ attempts: 5, done: true, last_error: 'no such channel' }),
    30_000,
  );
  await eventually(() =>
    expect(errors).toContainEqual({
      event: 'event:Ev1',
      reason: 'no such channel',
      text: 'an event from Slack is given up',
    }),
  );
  await stop();
});

it('an event that its process never survives is given up in the end, said and counted [C11] [M7]', async () => {
  let handled = 0;
  const { errors, state, givenUp, stop } = await swept({ takes: 20 }, async () => {
    handled += 1;
  });
  await eventually(async () => expect(await state()).toMatchObject({ done: true }));
  expect(handled).toBe(0);
  await eventually(() => expect(givenUp()).toBe(1));
  expect(errors).toMatchObject([{ reason: 'interrupted again and again' }]);
  await stop();
});

it('keeps of what it has handled the key alone, and of what it has given up [F12]', async () => {
  scene = await slackScene();
  const message = {
    type: 'message',
    ts: '1700000000.000100',
    channel: CHANNELS.alerts,
    bot_id: 'B0ALERTMANAGER',
  };
  await leftBehind('Ev1', 60, { ...message, text: 'FIRING: postgres://shop:hunter2pass@db:5432/shop' });
  await leftBehind('Ev2', 3_600, { ...message, text: 'FIRING: password=hunter2pass' });
  await scene.sql`UPDATE slack_inbox SET attempts = 5 WHERE event_key = 'event:Ev2'`;
  await scene.bot();
  await eventually(async () => {
    const rows =
      await scene.sql<Row>`SELECT event_key, body, processed_at FROM slack_inbox ORDER BY event_key`;
    expect(rows).toMatchObject([
      { event_key: 'event:Ev1', body: {}, processed_at: expect.anything() },
      { event_key: 'event:Ev2', body: {}, processed_at: expect.anything() },
    ]);
  });
  expect(scene.alerts.map((each) => each['text'])).toEqual([
    'FIRING: postgres://shop:hunter2pass@db:5432/shop',
  ]);
});

it('loses nothing when handling fails: what came stays as it came until the next try [F12]', async () => {
  scene = await slackScene();
  let fails = true;
  const heard: unknown[] = [];
  await scene.bot({
    acceptSlackMessage: async (each) => {
      if (fails) throw new Error('the database is away: password=hunter2pass');
      heard.push(each['text']);
    },
  });
  await scene.control('post-as-app', { channel: CHANNELS.alerts, text: 'FIRING: password=hunter2pass' });
  await eventually(async () => {
    const [row] = await scene.sql<Row>`SELECT body, last_error FROM slack_inbox WHERE last_error IS NOT NULL`;
    expect(JSON.stringify(row?.['body'])).toContain('hunter2pass');
    expect(row?.['last_error']).not.toContain('hunter2pass');
  });
  fails = false;
  await eventually(() => expect(heard).toEqual(['FIRING: password=hunter2pass']));
  await eventually(async () => {
    const rows = await scene.sql<Row>`SELECT body FROM slack_inbox`;
    expect(JSON.stringify(rows)).not.toContain('hunter2pass');
  });
});

it('a second delivery is acknowledged with what the first is, not with nothing before it [L5]', async () => {
  scene = await slackScene();
  let decide = (): void => undefined;
  const decided = new Promise<void>((resolve) => {
    decide = resolve;
  });
  const inbox = createInbox({
    sql: scene.sql,
    log: quiet,
    ignore: () => false,
    handle: async ({ ack }) => {
      await decided;
      await ack({ response_action: 'errors', errors: { why: 'Say why.' } });
    },
  });
  const acks: unknown[] = [];
  const body = { type: 'view_submission', trigger_id: '1', view: { id: 'V1', hash: 'h' } };
  const deliver = (socket: number) =>
    inbox.take({ body, ack: async (response?: unknown) => void acks.push([socket, response]) });
  const both = [deliver(1), deliver(2)];
  await eventually(async () => expect(await scene.sql`SELECT 1 FROM slack_inbox`).toHaveLength(1));
  decide();
  await Promise.all(both);
  const answer = { response_action: 'errors', errors: { why: 'Say why.' } };
  expect(acks).toEqual([
    [1, answer],
    [2, answer],
  ]);
});

it('of what could not be stored no delivery is acknowledged [L5]', async () => {
  scene = await slackScene();
  const inbox = createInbox({
    sql: scene.sql,
    log: quiet,
    ignore: () => false,
    handle: async () => undefined,
  });
  await scene.sql`ALTER TABLE slack_inbox RENAME TO gone`;
  const acks: unknown[] = [];
  const body = { type: 'view_submission', trigger_id: '1', view: { id: 'V1', hash: 'h' } };
  const deliver = () => inbox.take({ body, ack: async () => void acks.push(1) });
  const ends = await Promise.allSettled([deliver(), deliver()]);
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(acks).toEqual([]);
});
