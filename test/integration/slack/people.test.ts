import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { View } from '../../../playground/slack/slack-shapes.ts';
import { ACTION, CALL } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import type { Row } from '../../support/typed.ts';
import { cardOf, openWindow, press, waitingCard, whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

describe.each(['socket', 'http'] as const)('over %s', (mode) => {
  it('approves by who pressed, with the plan seen, and the card then says who and has no Approve', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene, mode);
    expect(await press(scene, card, 'sentry_approve')).toMatchObject({ ok: true });
    await eventually(async () => {
      const now = await cardOf(scene);
      expect(JSON.stringify(now.blocks)).toContain(USERS.onCall);
      expect(JSON.stringify(now.blocks)).not.toContain('sentry_approve');
    });
    expect(scene.decisions).toEqual([
      {
        actionId: ACTION,
        planHash: 'a'.repeat(64),
        by: USERS.onCall,
        decision: 'approve',
        reason: null,
        anotherWay: false,
      },
    ]);
  });

  it('takes a reason with a denial', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene, mode);
    const view = await openWindow(scene, async () => card, 'sentry_deny');
    await scene.act('view.submit', {
      userId: USERS.onCall,
      viewId: view.id,
      form: {
        reason: { reason: { kind: 'text', value: 'that session is the payroll' } },
        way: { way: { kind: 'options', values: ['yes'] } },
      },
    });
    await eventually(async () =>
      expect(JSON.stringify((await cardOf(scene)).blocks)).toContain('the payroll'),
    );
    expect(scene.decisions.at(-1)).toMatchObject({
      decision: 'deny',
      reason: 'that session is the payroll',
      anotherWay: true,
    });
  });

  it('answers /sentry and takes other apps’ alert messages once', async () => {
    scene = await slackScene();
    await waitingCard(scene, mode);
    await scene.control('double-events', { times: 1, event: 'message' });
    await scene.control('post-as-app', {
      kind: 'classic',
      attachments: [{ title: '[FIRING:1] Blocked', fallback: 'x' }],
    });
    await scene.control('post-as-app', { kind: 'modern', text: 'FIRING: disk full' });
    await eventually(() => expect(scene.alerts).toHaveLength(2));
    // Taken in side by side: which is first does not matter.
    expect(scene.alerts).toContainEqual(
      expect.objectContaining({
        channel: CHANNELS.alerts,
        attachments: [expect.objectContaining({ title: '[FIRING:1] Blocked' })],
      }),
    );
    await scene.act('command.run', { userId: USERS.admin, channel: CHANNELS.alerts, text: '/sentry status' });
    await eventually(async () =>
      expect((await whispers(scene, USERS.admin)).join()).toContain('1 open incident'),
    );
    await delay(300);
    expect(scene.alerts).toHaveLength(2);
  });
});

describe('a decision', () => {
  it('is refused to a stranger, in words, and the card stays', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene);
    await press(scene, card, 'sentry_approve', USERS.stranger);
    await eventually(async () =>
      expect((await whispers(scene, USERS.stranger)).join()).toContain('You may not approve this'),
    );
    expect(JSON.stringify((await cardOf(scene)).blocks)).toContain('sentry_approve');
  });

  it('is answered when it was made already', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene);
    await Promise.all([
      press(scene, card, 'sentry_approve'),
      press(scene, card, 'sentry_approve', USERS.onCall2),
    ]);
    await eventually(async () => {
      const answers = [...(await whispers(scene, USERS.onCall)), ...(await whispers(scene, USERS.onCall2))];
      expect(answers).toHaveLength(1);
      expect(answers.join()).toContain('decided already');
    });
  });

  it('is answered in the thread where ephemeral messages do not exist', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene);
    await scene.control('unknown-methods', { methods: ['chat.postEphemeral'] });
    await press(scene, card, 'sentry_approve', USERS.stranger);
    await eventually(async () => {
      const all = [...(await whispers(scene, USERS.stranger)), JSON.stringify(await scene.messages())].join();
      expect(all).toContain('You may not approve this');
    });
  });

  it('is answered when the action is unknown', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene);
    await scene.sql`DELETE FROM action`;
    await press(scene, card, 'sentry_approve');
    await eventually(async () =>
      expect((await whispers(scene, USERS.onCall)).join()).toContain('Nothing was done'),
    );
  });

  it('pressed while the database could not take it is not acknowledged, so that nobody thinks it counted', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene);
    await scene.sql`ALTER TABLE slack_inbox RENAME TO slack_inbox_away`;
    expect(await press(scene, card, 'sentry_approve')).toMatchObject({ ok: false, error: 'dispatch_failed' });
    await scene.sql`ALTER TABLE slack_inbox_away RENAME TO slack_inbox`;
    expect(scene.decisions).toEqual([]);
  });

  it('acknowledged by a process that died at once is made by the next one', async () => {
    scene = await slackScene();
    const { bot, card } = await waitingCard(scene);
    // What has been handled keeps its key alone.
    await scene.sql`CREATE TABLE came AS TABLE slack_inbox WITH NO DATA`;
    await scene.sql`
      CREATE FUNCTION keep_came() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO came SELECT NEW.*; RETURN NEW; END $$`;
    await scene.sql`
      CREATE TRIGGER keep_came BEFORE INSERT ON slack_inbox FOR EACH ROW EXECUTE FUNCTION keep_came()`;
    await press(scene, card, 'sentry_evidence');
    await bot.stop();
    // The press of Approve as it would lie in the inbox of a process killed after acknowledging it.
    const [row] = await scene.sql<Row>`SELECT body FROM came WHERE event_key LIKE 'action:%'`;
    const text = JSON.stringify(row?.['body'])
      .replace(/"action_id":"sentry_evidence"/g, '"action_id":"sentry_approve"')
      .replace(/("actions":\[.*?"value":")[^"]*"/, `$1${ACTION}:${'a'.repeat(64)}"`);
    await scene.sql`INSERT INTO slack_inbox (event_key, body, received_at)
                    VALUES ('action:lost', ${scene.sql.json(JSON.parse(text))}, clock_timestamp() - interval '6 seconds')`;
    await scene.bot();
    await eventually(() => expect(scene.decisions).toHaveLength(1));
  });
});

describe('windows', () => {
  const theProgress = async () =>
    (await scene.messages()).find((each) => each.blocks?.[0]?.block_id?.includes('live:1'))!;
  /** The output of a read, on top of the evidence that names it. */
  const openOutput = async (userId: string = USERS.onCall) => {
    await openWindow(scene, theProgress, 'sentry_diagnosis', userId);
    const evidence = await eventually(async () => {
      const [open] = await scene.views(userId);
      expect(JSON.stringify(open)).toContain('"sentry_output"');
      return open!;
    });
    await inWindow(evidence, 'sentry_output', userId);
  };
  const inWindow = (view: View, action: string, userId: string = USERS.onCall) =>
    scene.act('block.action', {
      userId,
      container: { type: 'view', viewId: view.id },
      block_id: view.blocks.find((each) => JSON.stringify(each).includes(`"${action}"`))?.block_id ?? '',
      action_id: action,
      input: { kind: 'press' },
    });

  it('show the output behind a claim', async () => {
    scene = await slackScene();
    await waitingCard(scene);
    await openOutput(USERS.stranger);
    await eventually(async () =>
      expect(JSON.stringify(await scene.views(USERS.stranger))).toContain('pid 4242 blocks 4243, 4244'),
    );
  });

  it('show long output page by page', async () => {
    scene = await slackScene();
    await waitingCard(scene);
    const long = Array.from({ length: 3000 }, (_, line) => `line ${line}`).join('\n');
    await scene.sql`UPDATE tool_call SET output = ${long} WHERE id = ${CALL}`;
    await openOutput();
    const view = await eventually(async () => {
      const open = (await scene.views(USERS.onCall)).find((each) =>
        JSON.stringify(each).includes('page 1 of 4'),
      );
      expect(open).toBeDefined();
      return open!;
    });
    await inWindow(view, 'sentry_output_page_next');
    await eventually(async () =>
      expect(JSON.stringify(await scene.views(USERS.onCall))).toContain('page 2 of 4'),
    );
  });

  it('show the evidence of an action, whole', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene);
    await openWindow(scene, async () => card, 'sentry_evidence');
    await eventually(async () => {
      const view = JSON.stringify(await scene.views(USERS.onCall));
      expect(view).toContain('pg_terminate_backend(4242)');
      expect(view).toContain('a'.repeat(64));
      expect(view).toContain('sentry_output');
    });
  });

  it('that do not exist are answered with words', async () => {
    scene = await slackScene();
    await waitingCard(scene);
    await scene.control('unknown-methods', { methods: ['views.open', 'views.push', 'views.update'] });
    await eventually(async () =>
      expect(await press(scene, await theProgress(), 'sentry_diagnosis')).toMatchObject({ ok: true }),
    );
    await eventually(async () =>
      expect((await whispers(scene, USERS.onCall)).join()).toContain('pid 4242 blocks 5 others'),
    );
  });
});

describe('talking', () => {
  const post = (text: string, thread_ts?: string, userId: string = USERS.onCall) =>
    scene.act('message.post', {
      userId,
      channel: CHANNELS.alerts,
      text,
      ...(thread_ts ? { thread_ts } : {}),
    });

  it('answers a question in the thread from the record, once', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene);
    await scene.control('double-events', { times: 1, event: 'app_mention' });
    await post(`<@${SENTRY_APP.botUserId}> what happened?`, card.thread_ts);
    const stories = async () =>
      (await scene.messages()).filter((each) => JSON.stringify(each.blocks).includes('Nothing ran'));
    await eventually(async () => expect(await stories()).toHaveLength(1));
    await delay(500);
    expect(await stories()).toHaveLength(1);
    expect((await stories())[0]?.thread_ts).toBe(card.thread_ts);
  });

  it('takes a mention that is no question, and a reply that says so, as hints', async () => {
    scene = await slackScene();
    const { card, id } = await waitingCard(scene);
    await post(`<@${SENTRY_APP.botUserId}> the payroll job runs since 10`, card.thread_ts);
    await post('hint: look at pid 17', card.thread_ts);
    await post('I am on it', card.thread_ts);
    await eventually(() => expect(scene.hints).toHaveLength(2));
    // Said one right after the other, they may be heard the other way round.
    expect(scene.hints.toSorted((a, b) => b.text.localeCompare(a.text))).toEqual([
      { id, by: USERS.onCall, text: 'the payroll job runs since 10' },
      { id, by: USERS.onCall, text: 'look at pid 17' },
    ]);
  });

  it('gives help to who mentions it elsewhere, and only to them', async () => {
    scene = await slackScene();
    await waitingCard(scene);
    const before = (await scene.messages()).length;
    await post(`<@${SENTRY_APP.botUserId}> hello`);
    await eventually(async () =>
      expect((await whispers(scene, USERS.onCall)).join()).toContain('/sentry why'),
    );
    expect(await scene.messages()).toHaveLength(before);
  });

  it('tells why by id, by name or of the newest, lists incidents, and helps', async () => {
    scene = await slackScene();
    const { id } = await waitingCard(scene);
    const ask = async (text: string, says: string) => {
      await scene.act('command.run', { userId: USERS.admin, channel: CHANNELS.alerts, text });
      await eventually(async () => expect((await whispers(scene, USERS.admin)).at(-1)).toContain(says));
    };
    await ask(`/sentry why ${id}`, `The story of ${id}`);
    await ask('/sentry incidents', `${id} shop-db`);
    await ask('/sentry why', `The story of ${id}`);
    await ask('/sentry why INC-999', 'There is no INC-999');
    await ask('/sentry nonsense', 'I do not know “nonsense”');
    await ask('/sentry', 'What I can do');
  });

  it('tells who asks in the incident’s own channel, where Slack can say nothing of channels', async () => {
    scene = await slackScene();
    const { id } = await waitingCard(scene);
    await scene.control('unknown-methods', { methods: ['conversations.info', 'conversations.members'] });
    const ask = async (channel: string, says: string) => {
      await scene.act('command.run', { userId: USERS.admin, channel, text: `/sentry why ${id}` });
      await eventually(async () => expect((await whispers(scene, USERS.admin)).at(-1)).toContain(says));
    };
    await ask(CHANNELS.general, `There is no ${id} that you may see.`);
    await ask(CHANNELS.alerts, `The story of ${id}`);
  });

  it('never reacts to its own messages or to other bots in threads', async () => {
    scene = await slackScene();
    const { card } = await waitingCard(scene);
    await scene.control('post-as-app', { kind: 'modern', text: 'FIRING: noise', thread_ts: card.thread_ts! });
    await scene.control('post-as-app', { kind: 'classic', text: 'FIRING: real' });
    await eventually(() => expect(scene.alerts).toHaveLength(1));
    await delay(300);
    expect(scene.alerts).toMatchObject([{ text: 'FIRING: real' }]);
  });
});
