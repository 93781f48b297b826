import { afterEach, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { Question } from '../../../src/incidents/questions/questions.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { textOf } from '../../support/local-slack.ts';
import { type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { noQuestions } from '../../support/slack-services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { whispers } from '../slack/card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const mention = (text: string, thread_ts?: string) =>
  scene.act('message.post', {
    userId: USERS.onCall,
    channel: CHANNELS.alerts,
    text: `<@${SENTRY_APP.botUserId}> ${text}`,
    ...(thread_ts ? { thread_ts } : {}),
  });

type Questions = NonNullable<Parameters<SlackScene['bot']>[0]>['questions'];

/** A thread in which an action waits for approval, and what the bot answers to each mention there. */
async function thread(model?: Question[], readNow?: NonNullable<Questions>['readNow']) {
  scene = await slackScene();
  const questions = {
    ...noQuestions,
    hasModel: model !== undefined,
    ...(readNow ? { readNow } : {}),
    ask: async (question: Question) => {
      model?.push(question);
      return { ok: true } as const;
    },
  };
  await scene.bot({ why, questions });
  const id = await scene.incident();
  await scene.propose(id);
  const inThread = async () => {
    const all = await scene.messages();
    const root = all.find(
      (each) => textOf(each).includes(id) && (!each.thread_ts || each.thread_ts === each.ts),
    );
    return { root, replies: all.filter((each) => root && each.thread_ts === root.ts && each.ts !== root.ts) };
  };
  await waitFor('the card', async () =>
    (await inThread()).replies.some((each) => textOf(each).includes('pg_terminate')),
  );
  const rootTs = (await inThread()).root?.ts ?? '';
  /** The answer that this mention gets, by what it says. */
  async function ask(text: string, says: RegExp): Promise<string> {
    const before = new Set((await inThread()).replies.map(({ ts }) => ts));
    await mention(text, rootTs);
    const fresh = async () => (await inThread()).replies.filter(({ ts }) => !before.has(ts)).map(textOf);
    await waitFor(`an answer to “${text}” that says ${String(says)}`, async () =>
      (await fresh()).some((answer) => says.test(answer)),
    );
    return (await fresh()).find((answer) => says.test(answer)) ?? '';
  }
  return { id, rootTs, ask, inThread };
}

it('answers from the record without a model, shortly, and says in one line what it cannot', async () => {
  const { id, ask, inThread, rootTs } = await thread();
  const answers = [
    await ask('who approved this?', /Nobody yet \(asked: .*pg_terminate_backend/s),
    await ask('what ran?', /Nothing ran; nothing was changed/),
    await ask('what is it now?', /Waiting for approval since/),
    await ask('is it over?', /It is not over: waiting for approval/),
    await ask('what is open?', new RegExp(`Open: ${id} `)),
    await ask('', new RegExp(`${id}: Waiting for approval`)),
    await ask('how many sessions are blocked right now?', /not on record|May I look/),
    await ask('what about replication?', /That is not on record\. You can ask me what caused it/),
  ];
  // Text and blocks say it once each.
  for (const answer of answers) expect(answer.length).toBeLessThan(1_000);
  const { replies } = await inThread();
  await mention('thanks!', rootTs);
  await mention('who denied it?', rootTs);
  await waitFor('the answer after the thanks', async () =>
    (await inThread()).replies.some((each) => textOf(each).includes('Nobody said no.')),
  );
  expect((await inThread()).replies).toHaveLength(replies.length + 1);
  // Without a mention it is people talking, unless it is asked by its name.
  const talk = (text: string) =>
    scene.act('message.post', { userId: USERS.onCall, channel: CHANNELS.alerts, text, thread_ts: rootTs });
  await talk('who approved this?');
  await talk('is sentry slow today?');
  await talk('Sentry: 500s since the deploy');
  await talk('sentry, who was called?');
  await waitFor('the answer to who asks by name', async () =>
    (await inThread()).replies.some((each) => textOf(each).includes('Nobody was called.')),
  );
  expect((await inThread()).replies).toHaveLength(replies.length + 2);
  expect((await inThread()).replies.map(textOf).join('\n')).not.toContain('What happened (times in UTC)');
  expect(scene.hints).toEqual([]);
  await scene.act('command.run', {
    userId: USERS.onCall,
    channel: CHANNELS.alerts,
    text: `/sentry why ${id}`,
  });
  await waitFor('the whole story, to who asks', async () =>
    (await whispers(scene, USERS.onCall)).at(-1)?.includes('What happened'),
  );
});

it('says who approved and what ran, and asks rather than hints once it is over', async () => {
  const { id, ask } = await thread();
  await scene.sql`
    UPDATE action SET state = 'succeeded', approved_by = ${scene.sql.array([USERS.onCall])}::text[],
           decided_by = ${USERS.onCall}, decided_at = clock_timestamp(), started_at = clock_timestamp(),
           outcome = 'The session has ended.'
     WHERE incident_id = ${id}`;
  await scene.append(id, {
    type: 'state.changed',
    from: 'verifying',
    to: 'resolved',
    reason: 'It has held for 10 s.',
  });
  expect(await ask('who approved this?', /Approved by @\S.* at /)).not.toContain(`<@${USERS.onCall}>`);
  await ask('why did you terminate that session?', /because: /);
  await ask('is it over?', /Resolved since .*It has held for 10 s\./s);
  await ask('write a post-mortem', /“report” makes the post-mortem/);
  expect(scene.hints).toEqual([]);
});

it('asks the model only what the record does not answer', async () => {
  const asked: Question[] = [];
  const { ask } = await thread(asked);
  await ask('who approved this?', /Nobody yet/);
  expect(asked).toEqual([]);
  await ask('what about replication?', /Waiting for approval/);
  await waitFor('the model to be asked', async () => asked.length === 1);
  expect(asked).toMatchObject([{ text: 'what about replication?' }]);
});

it('answers for this very moment by a look, with its time, and says when it cannot look', async () => {
  const at = '2026-11-21T10:41:00.000Z';
  let state: 'red' | 'green' | 'unread' = 'red';
  const { ask } = await thread(undefined, async (_, text) =>
    /replication|approved/.test(text)
      ? null
      : { at, state, lines: [`sessions waiting for a lock: ${state}`] },
  );
  await ask('how many are blocked now?', /It is so now, read at .*: sessions waiting for a lock: red/s);
  state = 'green';
  await ask('is it over?', /It is not over: waiting for approval.*Nothing of it was to be seen at /s);
  state = 'unread';
  await ask('is it still down?', /cannot be told, it could not be read at /);
  await ask('who approved this?', /Nobody yet/);
  await ask('what about replication?', /not on record/);
});

it('lists what is open to who asks outside of a thread, and opens nothing', async () => {
  const { id } = await thread();
  await mention('what is open?');
  await waitFor('the list', async () => (await whispers(scene, USERS.onCall)).at(-1)?.includes(id));
  expect(await scene.sql`SELECT FROM incident`).toHaveLength(1);
});
