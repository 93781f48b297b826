import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { AskedQuestion, Question } from '../../../src/incidents/questions/questions.ts';
import type { CreateManualIncident } from '../../../src/ingest/create-manual-incident.ts';
import type { Slack } from '../../../src/slack/slack.ts';
import { textOf } from '../../support/local-slack.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { noQuestions } from '../../support/slack-services.ts';
import type { Row } from '../../support/typed.ts';

/** One workspace and one bot for all tests, which have a thread of their own each. */
let scene: SlackScene;
let bot: Slack;
/** What the test's incident is. */
let id: IncidentId;
let opened: { text: string; key: string }[];
let before: Awaited<ReturnType<SlackScene['counters']>>['calls'];

beforeAll(async () => {
  scene = await slackScene();
  await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
  bot = await scene.bot({ questions, createManualIncident: openByHand });
});
afterAll(() => scene.close());
beforeEach(async () => {
  await scene.control('reset', {});
  Object.assign(questions, { hasModel: true, asked: [], noted: [], stopped: [] });
  opened = [];
  id = await scene.incident();
  before = (await scene.counters()).calls;
});

const STREAMS = ['chat.startStream', 'chat.appendStream', 'chat.stopStream'];
const AGENT = [
  'agents.sessions.setStatus',
  'assistant.threads.setStatus',
  'assistant.threads.setTitle',
  'assistant.threads.setSuggestedPrompts',
];

/** Questions as the record keeps them, with a model that the test plays by `bot.answers`. */
const questions = {
  ...noQuestions,
  hasModel: true,
  asked: [] as AskedQuestion[],
  noted: [] as Question[],
  stopped: [] as string[],
  note: async (question: Question) => void questions.noted.push(question),
  ask: async (question: Question) => {
    questions.asked.push({ ...question, id: `${question.channel}:${question.ts}` });
    return { ok: true } as const;
  },
  stop: async (channel: string, threadTs: string) => {
    questions.stopped.push(`${channel}:${threadTs}`);
    return true;
  },
  lastOf: async (channel: string, threadTs: string) =>
    [...questions.asked, ...questions.noted].findLast(
      (each) => each.channel === channel && each.threadTs === threadTs,
    )?.incidentId ?? null,
};

const openByHand: CreateManualIncident = async ({ text, key }) => {
  opened.push({ text, key });
  await scene.sql`
    INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at)
    VALUES (${id}, ${`hand:${key}`}, 'hand', 'f', 'firing', ${text}, '{}', '{}', now())`;
  return { ok: true, incidentId: id, target: 'shop-db', opened: true };
};

const dmOf = async (userId: string): Promise<string> => {
  const answer = await scene.act('dm.open', { userId });
  if (!answer.ok || !answer.channel) throw new Error('no direct message');
  return answer.channel;
};

async function write(text: string, options: { readonly by?: string; readonly thread?: string } = {}) {
  const userId = options.by ?? USERS.onCall;
  const channel = await dmOf(userId);
  const thread = options.thread === undefined ? {} : { thread_ts: options.thread };
  const answer = await scene.act('message.post', { userId, channel, text, ...thread });
  if (!answer.ok || !answer.ts) throw new Error('not posted');
  return { channel, ts: answer.ts, threadTs: options.thread ?? answer.ts };
}

/** The bot's messages in a thread of the direct message, oldest first. */
async function answers({ channel, threadTs }: { readonly channel: string; readonly threadTs: string }) {
  const { messages } = await scene.control('messages', { channel, thread_ts: threadTs });
  return (messages as readonly Message[]).filter((each) => each.bot_id === SENTRY_APP.botId);
}

async function asking(text = 'is it still blocked?') {
  const at = await write(text);
  const question = await eventually(() => {
    expect(questions.asked).toHaveLength(1);
    return questions.asked[0]!;
  });
  return { at, question, view: bot.answers.open(question) };
}

/** Of this test alone. */
const calls = async (method: string) =>
  ((await scene.counters()).calls[method]?.total ?? 0) - (before[method]?.total ?? 0);

describe('a question in a direct message', () => {
  it('gets how the incident stands by the record, then the model’s answer as a stream, while the session says so', async () => {
    const { at, question, view } = await asking();
    expect(question).toMatchObject({ incidentId: id, direct: true, by: USERS.onCall, threadTs: at.ts });
    await eventually(async () => expect(textOf((await answers(at))[0]!)).toContain(id));

    view.show('It is pid 4711. It has been', 'writing');
    const streamed = await eventually(async () => {
      const found = (await answers(at)).find((each) => each.streaming_state === 'in_progress');
      expect(found?.text).toContain('It is pid 4711.');
      return found!;
    });
    expect(streamed.text).not.toContain('It has been');
    await eventually(async () => {
      const { snapshot } = (await scene.control('snapshot', {})) as never as {
        snapshot: { statuses: readonly { text: string }[]; titles: Readonly<Record<string, string>> };
      };
      expect(snapshot.statuses).toMatchObject([{ text: 'is working…' }]);
      expect(Object.values(snapshot.titles)).toEqual([`${id}: is it still blocked?`]);
    });
    await view.end({ text: 'It is pid 4711. It has been idle for 9 minutes.' });
    const all = await answers(at);
    expect(all).toHaveLength(2);
    expect(all[1]).toMatchObject({
      ts: streamed.ts,
      text: 'It is pid 4711. It has been idle for 9 minutes.',
    });
    expect(all[1]?.streaming_state).toBeUndefined();
    expect(await calls('chat.update')).toBe(0);
    const after = (await scene.control('snapshot', {})) as never as { snapshot: { statuses: unknown[] } };
    expect(after.snapshot.statuses).toEqual([]);
  });

  it('is answered by an edited message where Slack knows neither streams nor agents', async () => {
    await scene.control('unknown-methods', { methods: [...STREAMS, ...AGENT] });
    const { at, view } = await asking();
    view.show('It is pid 4711. It has', 'writing');
    await eventually(async () =>
      expect((await answers(at)).map(textOf).join('\n')).toContain('It is pid 4711. It has …'),
    );
    await view.end({ text: 'It is pid 4711.' });
    const all = (await answers(at)).map(textOf);
    expect(all).toHaveLength(2);
    expect(all[1]).toContain('It is pid 4711.');
    expect(all[1]).not.toContain('…');
  });

  it('whose words are withdrawn after they were shown ends as one message without them', async () => {
    const { at, view } = await asking();
    view.show('It is the disk. Then', 'writing');
    await eventually(async () => expect((await answers(at))[1]?.text).toContain('It is the disk.'));
    view.show(null, 'writing');
    view.show('It is a lock.', 'said');
    await view.end({ text: 'It is a lock.' });
    const all = (await answers(at)).map(textOf);
    expect(all).toHaveLength(2);
    expect(all[1]).toContain('It is a lock.');
    expect(all[1]).not.toContain('disk');
  });

  it.each([
    ['takes no more of the stream', { kind: 'error', error: 'message_not_in_streaming_state' }],
    ['answers with a fault that took effect', { kind: 'server_error_after' }],
    ['asks to wait', { kind: 'rate_limited', retry_after_s: 1 }],
  ] as const)('stands whole and once when Slack %s', async (_, failure) => {
    const { at, view } = await asking();
    view.show('First this. Then', 'writing');
    await eventually(async () => expect((await answers(at))[1]?.text).toContain('First this.'));
    await scene.control('fail', { ...failure, method: 'chat.appendStream', times: 1 });
    view.show('First this. Then that. And', 'writing');
    await eventually(async () => expect(await calls('chat.appendStream')).toBeGreaterThan(1));
    await view.end({ text: 'First this. Then that. And done.' });
    const all = await answers(at);
    expect(all).toHaveLength(2);
    expect(textOf(all[1]!).match(/First this\. Then that\. And done\./g)).not.toBeNull();
    expect(all[1]?.text.match(/First/g)).toHaveLength(1);
    expect(all[1]?.streaming_state).toBeUndefined();
  });

  it('whose stream began although Slack answered with a fault stands once, and leaves no stream open', async () => {
    const { at, view } = await asking();
    await scene.control('fail', { kind: 'server_error_after', method: 'chat.startStream', times: 1 });
    view.show('First this. Then', 'writing');
    await eventually(async () => expect(await calls('chat.startStream')).toBe(1));
    await view.end({ text: 'First this. Then that.' });
    const all = await answers(at);
    expect(all.map((each) => each.streaming_state)).not.toContain('in_progress');
    expect(all).toHaveLength(2);
    expect(textOf(all[1]!)).toContain('First this. Then that.');
  });

  it('under way in a process that died is ended by another in the same message', async () => {
    const { at, question, view } = await asking();
    view.show('First this. Then', 'writing');
    await eventually(async () => expect((await answers(at))[1]?.text).toContain('First this.'));
    view.close();
    // As if killed before the message was on record.
    await scene.sql`UPDATE slack_post SET ts = NULL, posting_since = clock_timestamp() WHERE slot LIKE '%:model'`;
    const second = await scene.bot({ questions, createManualIncident: openByHand });
    const again = second.answers.open(question);
    await again.end({ text: 'First this. Then that.' });
    await second.answers.open(question).end({ text: 'First this. Then that.' });
    const all = await answers(at);
    expect(all).toHaveLength(2);
    expect(textOf(all[1]!)).toContain('First this. Then that.');
    expect(all[1]?.streaming_state).toBeUndefined();
  });

  it('is ended by Slack’s own *Stop*; what was said so far stays', async () => {
    const { at, view } = await asking();
    view.show('First this. Then', 'writing');
    await eventually(async () => expect((await answers(at))[1]?.text).toContain('First this.'));
    await scene.act('session.stop', { userId: USERS.onCall, channel: at.channel, thread_ts: at.ts });
    await eventually(() => expect(questions.stopped).toContain(`${at.channel}:${at.ts}`));
    await view.end({ stopped: true });
    const all = await answers(at);
    expect(all).toHaveLength(2);
    expect(textOf(all[1]!)).toMatch(/First this\.[\s\S]*Stopped/);
  });

  it('cannot ring anybody or hide an address, whatever the model writes', async () => {
    const { at, view } = await asking();
    await view.end({ text: '<!channel> see [the runbook](https://evil.example/?q=1) now.' });
    const said = (await answers(at))[1]!;
    expect(said.text).toContain('&lt;!channel&gt;');
    expect(said.text).not.toMatch(/\]\(/);
    expect(said.text).toContain('`https://evil.example/?q=1)`');
  });

  it('without a model gets the story, and what follows in its thread is about the same incident', async () => {
    questions.hasModel = false;
    const older = id;
    const newer = await scene.incident();
    const at = await write(`why ${older}`);
    await eventually(async () =>
      expect((await answers(at)).map(textOf).join()).toContain(`The story of ${older}`),
    );
    const again = await write('and who approved it?', { thread: at.ts });
    await eventually(async () => expect(await answers(again)).toHaveLength(2));
    const said = (await answers(again)).map(textOf).join();
    expect(said).not.toContain(newer);
    expect(questions.noted.map((each) => each.incidentId)).toEqual([older, older]);
  });
});

describe('what somebody who is not in an incident’s channel may learn of it', () => {
  it('is nothing, in a direct message and by command, not even that it exists [F3]', async () => {
    const drawn = async () =>
      (await scene.sql<Row>`SELECT thread_ts FROM incident WHERE id = ${id}`)[0]?.['thread_ts'];
    await eventually(async () => expect(await drawn()).toEqual(expect.any(String)));
    await scene.sql`UPDATE incident SET channel = ${CHANNELS.admin} WHERE id = ${id}`;
    const insider = USERS.admin;
    const outsider = USERS.stranger;
    for (const text of [`why ${id}`, 'what happened?', 'incidents']) {
      const at = await write(text, { by: outsider });
      const said = await eventually(async () => {
        const found = await answers(at);
        expect(found).toHaveLength(1);
        return textOf(found[0]!);
      });
      expect(said.replaceAll(`There is no ${id}`, '')).not.toContain(id);
    }
    expect(questions.asked).toEqual([]);
    const at = await write(`why ${id}`, { by: insider });
    await eventually(async () =>
      expect((await answers(at)).map(textOf).join()).toContain(`The story of ${id}`),
    );
    await scene.act('command.run', {
      userId: outsider,
      channel: CHANNELS.general,
      text: `/sentry why ${id}`,
    });
    await eventually(async () => {
      const { snapshot } = (await scene.control('snapshot', {})) as never as {
        snapshot: { ephemerals: readonly { userId: string; message: Message }[] };
      };
      const told = snapshot.ephemerals
        .filter((each) => each.userId === outsider)
        .map((each) => textOf(each.message));
      expect(told.join()).toContain(`There is no ${id} that you may see.`);
    });
  });
});

describe('a direct message that is no question', () => {
  it('describes a problem, and opens an incident that its thread is about from then on', async () => {
    const at = await write('checkout is slow since the release');
    await eventually(async () =>
      expect((await answers(at)).map(textOf).join()).toContain(`${id} on shop-db is open`),
    );
    expect(opened).toEqual([{ text: 'checkout is slow since the release', key: `${at.channel}:${at.ts}` }]);
    await write('any news', { thread: at.ts });
    await eventually(() => expect(questions.asked).toMatchObject([{ incidentId: id, text: 'any news' }]));
  });

  it.each([
    ['hi', 'why INC-7'],
    ['stop', '“stop INC-7” is one incident'],
    ['hint: it began with the release', 'incident’s thread'],
    ['status', 'Slack: messages arrive.'],
  ])('“%s” is told what to do, once', async (text, told) => {
    await scene.control('double-events', { times: 1, event: 'message' });
    const at = await write(text);
    await eventually(async () => expect((await answers(at)).map(textOf).join()).toContain(told));
    expect(await answers(at)).toHaveLength(1);
  });

  it('is suggested what to ask when somebody opens it', async () => {
    const channel = await dmOf(USERS.onCall);
    await scene.act('home.open', { userId: USERS.onCall, tab: 'messages' });
    await eventually(async () => {
      const { snapshot } = (await scene.control('snapshot', {})) as never as {
        snapshot: { prompts: Readonly<Record<string, { prompts: readonly { message: string }[] }>> };
      };
      expect(snapshot.prompts[channel]?.prompts.map((each) => each.message)).toContain(`why ${id}`);
    });
  });
});
