import { afterEach, beforeEach, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { Ephemeral, Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { seenText } from '../../support/seen-text.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { press } from './card.ts';

let scene: SlackScene;
let id: IncidentId;
beforeEach(async () => {
  scene = await slackScene();
  await scene.bot({
    alertChannels: ['alerts', CHANNELS.admin],
    commands: {
      ack: async ({ text }) => `You have ${text}.`,
      cost: async ({ text }) => `${text} cost $1.23.`,
    },
  });
  id = await scene.incident();
  await eventually(async () => expect(await scene.messages()).not.toHaveLength(0));
});
afterEach(() => scene.close());

const whispersTo = async (userId: string): Promise<readonly Message[]> => {
  const { snapshot } = (await scene.control('snapshot', {})) as never as {
    snapshot: { ephemerals: readonly Ephemeral[] };
  };
  return snapshot.ephemerals.filter((each) => each.userId === userId).map(({ message }) => message);
};
const lastWhisper = (says: string | RegExp, userId: string = USERS.onCall): Promise<Message> =>
  eventually(async () => {
    const last = (await whispersTo(userId)).at(-1);
    expect(seen(last)).toMatch(says);
    return last!;
  });
const seen = (message: Message | undefined): string =>
  `${message?.text ?? ''} ${seenText({ blocks: (message?.blocks ?? []) as never })}`;
const hasShare = (message: Message): boolean => JSON.stringify(message).includes('"sentry_share"');

const typed = (text: string, channel: string = CHANNELS.alerts) =>
  scene.act('command.run', { userId: USERS.onCall, channel, text: `/sentry ${text}` });
const mention = async (text: string) => {
  const [root] = await scene.messages();
  return scene.act('message.post', {
    userId: USERS.onCall,
    channel: CHANNELS.alerts,
    thread_ts: root?.ts ?? '',
    text: `<@${SENTRY_APP.botUserId}> ${text}`,
  });
};

async function shared(channel: string = CHANNELS.alerts): Promise<readonly Message[]> {
  const { messages } = (await scene.control('messages', { channel })) as never as {
    messages: readonly Message[];
  };
  return messages.filter((each) => each.text.includes(' shares: '));
}

it('shows to everybody, once, exactly what one person was told, and says who shows it', async () => {
  await typed(`why ${id}`);
  const told = await lastWhisper(/The story of INC-/);
  expect(hasShare(told)).toBe(true);
  expect(JSON.stringify(told.blocks?.at(-1))).not.toContain('story');
  await Promise.all([press(scene, told, 'sentry_share'), press(scene, told, 'sentry_share')]);
  const [message] = await eventually(async () => {
    const found = await shared();
    expect(found).toHaveLength(1);
    return found;
  });
  expect(message?.thread_ts).toBeUndefined();
  expect(seen(message)).toMatch(/@olivia asked at .* and shares:/);
  const body = (each: Message | undefined) =>
    (each?.blocks ?? []).map(({ block_id: _id, ...block }) => block);
  expect(body(message).slice(1)).toEqual(body(told).slice(0, -1));
  await eventually(async () =>
    expect((await whispersTo(USERS.onCall)).map(seen).join()).toMatch(
      /Shared\.[\s\S]*It is shared already\./,
    ),
  );
  expect(await shared()).toHaveLength(1);
});

it('of an incident that others there may not read of is refused, as it is at the press', async () => {
  await typed(`why ${id}`);
  const told = await lastWhisper(/The story of INC-/);
  await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
  await scene.sql`UPDATE incident SET channel = ${CHANNELS.admin}, thread_ts = '1.1' WHERE id = ${id}`;
  await press(scene, told, 'sentry_share');
  await lastWhisper(`Not everybody here may read of ${id}: it is not shared.`);
  expect(await shared()).toEqual([]);
  // Where its own members are, it may be.
  await typed(`why ${id}`, CHANNELS.admin);
  await press(scene, await lastWhisper(/The story of INC-/), 'sentry_share');
  await eventually(async () => expect(await shared(CHANNELS.admin)).toHaveLength(1));
});

it('is refused once it is a day old, and posted after a crash between the press and the message', async () => {
  await typed('incidents');
  const told = await lastWhisper(/Newest incidents/);
  await scene.sql`UPDATE slack_answer SET at = at - interval '25 hours'`;
  await press(scene, told, 'sentry_share');
  await lastWhisper('too old to be shared');
  await scene.sql`UPDATE slack_answer SET at = clock_timestamp(), shared_at = clock_timestamp()`;
  await press(scene, told, 'sentry_share');
  await lastWhisper('It is shared already.');
  expect(await shared()).toHaveLength(1);
});

it('is not offered for a refusal, nor where nobody else reads', async () => {
  await typed('why INC-99');
  expect(hasShare(await lastWhisper('There is no INC-99 that you may see.'))).toBe(false);
  await typed('why INC 7x');
  expect(hasShare(await lastWhisper('is not an incident’s number'))).toBe(false);
  const { channel } = (await scene.act('dm.open', { userId: USERS.onCall })) as { channel: string };
  await typed('incidents', channel);
  const told = await lastWhisper(/Newest incidents/);
  expect(told.channel).toBe(channel);
  expect(hasShare(told)).toBe(false);
});

it('said in the thread, what is of its incident is answered there, and all else to who asks, who may share it there', async () => {
  await mention('ack, looking into it');
  await eventually(async () =>
    expect((await scene.messages()).map(seen).join()).toContain(`You have ${id}.`),
  );
  await mention('cost?');
  await eventually(async () =>
    expect((await scene.messages()).map(seen).join()).toContain(`${id} cost $1.23.`),
  );
  await mention('update the config first');
  await eventually(() => expect(scene.hints.map(({ text }) => text)).toEqual(['update the config first']));
  await mention('incidents open');
  const told = await lastWhisper(/Open incidents/);
  await press(scene, told, 'sentry_share');
  const [message] = await eventually(async () => {
    const found = await shared();
    expect(found).toHaveLength(1);
    return found;
  });
  expect(message?.thread_ts).toBe((await scene.messages())[0]?.ts);
});

it.each([
  ['incidents today', /Incidents of the last 24 hours/],
  ['incidents shop-db', /Incidents of shop-db/],
  ['incidents shpo-db', /No incident of “shpo-db”.* Did you mean “shop-db”\?/],
  ['incidents mine', /You have none/],
  ['why inc 1', /The story of INC-1/],
  ['#1', /The story of INC-1/],
  ['status inc1', /INC-1: /],
])('“/sentry %s” is understood', async (text, says) => {
  await typed(text);
  await lastWhisper(says);
});

it('an answer about an incident says what to say next, and links its thread', async () => {
  await typed(`why ${id}`);
  const told = await lastWhisper(/The story of INC-/);
  expect(seen(told)).toContain(`To have it: /sentry ack ${id}`);
  expect(JSON.stringify(told)).toMatch(/archives\/C0ALERTS\/p\d+/);
});

it('a word with a slip in it is asked back where I am mentioned', async () => {
  await scene.act('message.post', {
    userId: USERS.onCall,
    channel: CHANNELS.alerts,
    text: `<@${SENTRY_APP.botUserId}> incidnts`,
  });
  await lastWhisper('Did you mean “incidents”?');
});
