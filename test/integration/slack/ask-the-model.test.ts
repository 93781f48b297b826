import { afterEach, describe, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { AskedQuestion, Question } from '../../../src/incidents/questions/questions.ts';
import { aDiagnosis } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { noQuestions } from '../../support/slack-services.ts';
import { openWindow, whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const post = (text: string, thread_ts?: string) =>
  scene.act('message.post', {
    userId: USERS.onCall,
    channel: CHANNELS.alerts,
    text,
    ...(thread_ts ? { thread_ts } : {}),
  });

/** Asks as the record does, with a model that the test plays: `asked` are the questions whose answers it may let grow. */
const questionsOf = (asked: AskedQuestion[]) => ({
  ...noQuestions,
  hasModel: true,
  ask: async (question: Question) => {
    asked.push({ ...question, id: `${question.channel}:${question.ts}` });
    return { ok: true } as const;
  },
});

describe('a question in an incident’s thread', () => {
  it('gets the record’s answer first, then the model’s, which grows in one message and ends whole', async () => {
    scene = await slackScene();
    const asked: AskedQuestion[] = [];
    const bot = await scene.bot({ questions: questionsOf(asked) });
    const id = await scene.incident();
    const root = await eventually(async () => {
      const found = (await scene.messages()).find((each) => !each.thread_ts || each.thread_ts === each.ts);
      expect(found).toBeDefined();
      return found!;
    });
    await post(`<@${SENTRY_APP.botUserId}> who blocks whom?`, root.ts);
    const question = await eventually(() => {
      expect(asked).toHaveLength(1);
      return asked[0]!;
    });
    expect(question).toMatchObject({
      incidentId: id,
      direct: false,
      by: USERS.onCall,
      text: 'who blocks whom?',
    });
    const view = bot.answers.open(question);
    view.show('It is', 'writing');
    const inThread = async () =>
      (await scene.messages())
        .filter((each) => each.thread_ts === root.ts && each.ts !== root.ts)
        .map((each) => `${each.text} ${JSON.stringify(each.blocks ?? [])}`);
    await eventually(async () => expect((await inThread()).join('\n')).toContain('It is …'));
    const half = await inThread();
    expect(half.findIndex((text) => text.includes(`${id} shop-db: sessions are blocked`))).toBeLessThan(
      half.findIndex((text) => text.includes('It is …')),
    );
    await view.end({ text: 'It is pid 4711 that blocks.' });
    // As after a crash between the end and its record.
    await bot.answers.open(question).end({ text: 'It is pid 4711 that blocks.' });
    expect((await inThread()).join('\n')).toContain('It is pid 4711 that blocks.');
    expect((await inThread()).join('\n')).not.toContain('It is …');
    expect(await inThread()).toHaveLength(half.length);
  });

  it('that the model cannot answer says why', async () => {
    scene = await slackScene();
    const asked: AskedQuestion[] = [];
    const bot = await scene.bot({ questions: questionsOf(asked) });
    await scene.incident();
    const root = await eventually(async () => {
      const [found] = await scene.messages();
      expect(found).toBeDefined();
      return found!;
    });
    await post(`<@${SENTRY_APP.botUserId}> why?`, root.ts);
    await eventually(() => expect(asked).toHaveLength(1));
    await bot.answers.open(asked[0]!).end({ failed: 'the model is overloaded.' });
    await eventually(async () => {
      const refusals = (await scene.messages()).filter((each) =>
        JSON.stringify(each).includes('the model is overloaded'),
      );
      expect(refusals).toHaveLength(1);
    });
  });
});

describe('“stop” said in an incident’s thread', () => {
  it('stops it as the command does, and what is being answered there; so does a longer sentence', async () => {
    scene = await slackScene();
    const orders: string[] = [];
    const stopped: string[] = [];
    const order = (verb: string) => async (asked: { readonly text: string; readonly by: string }) => {
      orders.push(`${verb} ${asked.text} by ${asked.by}`);
      return `${verb}: done.`;
    };
    await scene.bot({
      questions: { ...questionsOf([]), stop: async (...where) => stopped.push(where.join(':')) > 0 },
      commands: { stop: order('stop'), resume: order('resume') },
    });
    const id = await scene.incident();
    const root = await eventually(async () => {
      const [found] = await scene.messages();
      expect(found).toBeDefined();
      return found!;
    });
    for (const [at, said] of [
      'stop the payroll job first',
      'stop: we deploy',
      'Resume!',
      'Stop it, please',
    ].entries()) {
      await post(`<@${SENTRY_APP.botUserId}> ${said}`, root.ts);
      await eventually(async () => expect(orders.length).toBe(at + 1));
    }
    expect(scene.hints).toEqual([]);
    expect(orders).toEqual([
      `stop the payroll job first by ${USERS.onCall}`,
      `stop ${id} we deploy by ${USERS.onCall}`,
      `resume ${id} by ${USERS.onCall}`,
      `stop ${id} by ${USERS.onCall}`,
    ]);
    expect(stopped).toEqual(Array(3).fill(`${CHANNELS.alerts}:${root.ts}`));
    await eventually(async () => expect(JSON.stringify(await scene.messages())).toContain('resume: done.'));
  });
});

describe('what a person has seen', () => {
  it('is opened as an incident by command and by mention, with who asked', async () => {
    scene = await slackScene();
    const opened: object[] = [];
    const id = await scene.incident();
    await scene.bot({
      createManualIncident: async ({ text, by }) => {
        opened.push({ text, by });
        return { ok: true, incidentId: id, target: 'shop-db', opened: true };
      },
    });
    await scene.act('command.run', {
      userId: USERS.onCall,
      channel: CHANNELS.alerts,
      text: '/sentry investigate checkout is slow',
    });
    await post(`<@${SENTRY_APP.botUserId}> look at the payments database`);
    await eventually(async () => expect(opened).toHaveLength(2));
    expect(opened).toEqual(
      expect.arrayContaining([
        { text: 'checkout is slow', by: USERS.onCall },
        { text: 'look at the payments database', by: USERS.onCall },
      ]),
    );
    await eventually(async () =>
      expect((await whispers(scene, USERS.onCall)).join()).toContain(`${id} on shop-db is open`),
    );
  });
});

describe('*Dig deeper*', () => {
  it('stands under a report, shows what it may cost, and spends nothing before that is confirmed', async () => {
    scene = await slackScene();
    const dug: string[] = [];
    await scene.bot({
      digDeeper: {
        estimate: async () => ({ ok: true, usualUsd: 0.4, atMostUsd: 2.5 }),
        dig: async (_, by) => {
          dug.push(by);
          return { ok: true, text: '' };
        },
      },
    });
    const id = await scene.incident([
      { type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis({ confidence: 0.6 }) },
      { type: 'state.changed', from: 'diagnosing', to: 'reported', reason: 'not sure enough' },
    ]);
    const report = await eventually(async () => {
      const found = (await scene.messages()).find((each) =>
        JSON.stringify(each.blocks).includes('sentry_dig'),
      );
      expect(found).toBeDefined();
      return found!;
    });
    const view = await openWindow(scene, async () => report, 'sentry_dig');
    expect(JSON.stringify(view)).toMatch(/about \$0\.40.*at \$2\.50 at the latest/);
    expect(JSON.stringify(view)).toContain(id);
    expect(dug).toEqual([]);
    await scene.act('view.submit', { userId: USERS.onCall, viewId: view.id, form: {} });
    await eventually(async () => expect(dug).toEqual([USERS.onCall]));
  });
});
