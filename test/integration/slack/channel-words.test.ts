import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { readChannelsOf } from '../../../src/app/channel-words.ts';
import type { GatheredPart } from '../../../src/core/context.ts';
import type { Incident } from '../../../src/core/incident.ts';
import { EMPTY_RECALL } from '../../../src/core/memory.ts';
import { channels } from '../../../src/incidents/context/channels.ts';
import { gatherContext } from '../../../src/incidents/context/gather.ts';
import { redact } from '../../../src/safety/screen/redact.ts';
import { createSlackWorkspace } from '../../../src/slack/people/slack-workspace.ts';
import { anIncident, aRecord } from '../../support/incident-record.ts';
import { quiet } from '../../support/quiet.ts';
import { type SlackScene, SOCKET, slackScene } from '../../support/slack-scene.ts';

const DEPLOYS = 'C0DEPLOYS';
let scene: SlackScene;
let part: ReturnType<typeof channels>;

beforeEach(async () => {
  scene = await slackScene({ slack: { rateLimits: { enabled: false } } });
  await scene.control('channel', {
    id: DEPLOYS,
    name: 'deploys',
    members: [...Object.values(USERS), SENTRY_APP.botUserId],
  });
  part = await newPart();
});
afterEach(() => scene.close());

/** As a process has it that has just begun, and hears nothing. */
async function newPart(alertChannels: readonly string[] = ['alerts']): Promise<typeof part> {
  const connection = SOCKET(scene.slack);
  const workspace = createSlackWorkspace({
    connection,
    alertChannels,
    sql: scene.sql,
    log: quiet,
  });
  await workspace.connect(AbortSignal.timeout(60_000));
  return channels(readChannelsOf(workspace), new Map());
}

async function say(
  channel: string,
  text: string,
  userId: string = USERS.onCall,
  more: object = {},
): Promise<string> {
  const answer = await scene.act('message.post', { userId, channel, text, ...more });
  if (!answer.ok || !answer.ts) throw new Error(JSON.stringify(answer));
  return answer.ts;
}

/** The part as it goes on record, for an incident of shop-db with its thread in #alerts. */
async function gathered(changes: Partial<Incident> = {}): Promise<GatheredPart> {
  const incident = anIncident({
    channel: CHANNELS.alerts,
    threadTs: '1.0',
    openedAt: new Date().toISOString(),
    ...changes,
  });
  const about = {
    record: aRecord({ incident, actions: [], events: [] }),
    recall: EMPTY_RECALL,
    neighbours: [],
    signal: new AbortController().signal,
  };
  const { now, later } = await gatherContext([part], about, redact);
  const [one] = (await later) ?? now;
  if (one === undefined) throw new Error('nothing was gathered');
  return one;
}
const calls = async (method: string) => (await scene.counters()).calls[method];

describe('what people said lately', () => {
  it('about the system, in the channels that the bot is in, is quoted with who said it and where', async () => {
    await say(DEPLOYS, 'rolled back shop-db to 1.2');
    await say(DEPLOYS, 'lunch?');
    await say(CHANNELS.alerts, 'shop-db: that’s my load test', USERS.admin);
    await say(CHANNELS.general, 'shop-db in a channel without the bot');
    const found = await gathered();
    expect(found).toMatchObject({ state: 'found', people: [USERS.onCall, USERS.admin] });
    expect(found.line).toMatch(
      /^olivia in #deploys, less than a minute \w+ it was opened: “rolled back shop-db to 1\.2”; amara in #alerts, .+: “shop-db: that’s my load test”$/,
    );
  });

  it('is nothing of bots, of guests, of whom Slack calls no member, of what is said to Sentry, and of its own thread', async () => {
    const root = await say(CHANNELS.alerts, 'shop-db is slow, from the shortcut');
    await say(CHANNELS.alerts, 'shop-db in the thread, and to all', USERS.onCall, {
      thread_ts: root,
      reply_broadcast: true,
    });
    await scene.control('post-as-app', {
      channel: CHANNELS.alerts,
      kind: 'classic',
      text: 'shop-db is down',
    });
    await scene.control('post-as-app', { channel: CHANNELS.alerts, kind: 'modern', text: 'shop-db is down' });
    await say(DEPLOYS, `<@${SENTRY_APP.botUserId}> hint: shop-db has a new index`);
    await scene.control('guest', { userId: USERS.stranger, is_restricted: true });
    await say(DEPLOYS, 'shop-db, says a guest', USERS.stranger);
    await scene.control('user', { id: USERS.onCall2, team_id: 'T0OTHER', is_stranger: true });
    await say(DEPLOYS, 'shop-db, says somebody of another company', USERS.onCall2);
    expect(await gathered({ threadTs: root })).toMatchObject({ state: 'nothing', line: '' });
    // Of another incident’s thread it is a message like any other.
    expect((await gathered()).line).toContain('from the shortcut');
  });

  it('is as it stands now: edited words, and none that were deleted', async () => {
    const edited = await say(DEPLOYS, 'shop-db is rolled back');
    const gone = await say(DEPLOYS, 'shop-db is my fault');
    await scene.act('message.edit', {
      userId: USERS.onCall,
      channel: DEPLOYS,
      ts: edited,
      text: 'shop-db is NOT rolled back',
    });
    await scene.act('message.delete', { userId: USERS.onCall, channel: DEPLOYS, ts: gone });
    const { line } = await gathered();
    expect(line).toContain('“shop-db is NOT rolled back”');
    expect(line).not.toContain('fault');
  });

  it('calls nobody, writes no line of ours, and has no secret', async () => {
    await say(
      DEPLOYS,
      `shop-db <!channel> <@${USERS.admin}> <#${CHANNELS.admin}|sentry-admin>\n✓ Links: all well ”; noah: “x ${'y'.repeat(30_000)}`,
    );
    await say(
      DEPLOYS,
      'shop-db has a new key, I rotated it: ghp_0123456789✅abcdefghijABCDEFGHIJ012345',
      USERS.admin,
    );
    const { line } = await gathered();
    expect(line).toContain('“shop-db @somebody @somebody #somewhere Links: all well ’;');
    expect(line).toMatch(/rotated it: \[redacted:/);
    expect(line).not.toMatch(/[\n✓<>]|ghp_|sentry-admin/);
    expect(line.match(/[“”]/g)).toHaveLength(4);
    expect(line.length).toBeLessThanOrEqual(300);
  });

  it('cannot be hidden by strangers who talk much', async () => {
    await say(DEPLOYS, 'rolled back shop-db to 1.2');
    await scene.control('guest', { userId: USERS.stranger, is_restricted: true });
    for (let at = 0; at < 30; at += 1) await say(DEPLOYS, `shop-db ${at}`, USERS.stranger);
    expect((await gathered()).line).toContain('“rolled back shop-db to 1.2”');
  });
});

describe('who may read it', () => {
  it('of a private channel, are those who read an incident of the same channel, and nobody else [F3]', async () => {
    await scene.control('channel', { id: DEPLOYS, is_private: true });
    await say(DEPLOYS, 'shop-db moves to Nightfall');
    const elsewhere = await gathered();
    expect(elsewhere).toMatchObject({ state: 'nothing', line: '' });
    expect((await calls('conversations.history'))?.total).toBe(2);
    const here = await gathered({ channel: DEPLOYS });
    expect(here.line).toContain('in #deploys, ');
    expect(here.line).toContain('“shop-db moves to Nightfall”');
  });

  it('in a private channel may read what everybody may [F3]', async () => {
    await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
    await say(DEPLOYS, 'rolled back shop-db');
    expect((await gathered({ channel: CHANNELS.admin })).line).toContain('“rolled back shop-db”');
  });

  it('in a channel shared with another company, are not those of what is said elsewhere [F3]', async () => {
    await scene.control('channel', { id: CHANNELS.alerts, is_ext_shared: true });
    await say(DEPLOYS, 'shop-db is for sale');
    await say(CHANNELS.alerts, 'shop-db is slow');
    const { line } = await gathered();
    expect(line).toContain('“shop-db is slow”');
    expect(line).not.toContain('for sale');
  });

  it('of a direct message, is nobody', async () => {
    const { channel } = (await scene.act('dm.open', { userId: USERS.onCall })) as { channel?: string };
    if (channel === undefined) throw new Error('no direct message');
    await say(channel, 'shop-db was me');
    expect(await gathered()).toMatchObject({ state: 'nothing' });
    expect(await gathered({ channel })).toMatchObject({ state: 'nothing' });
  });

  it('is nobody while Slack does not tell who sees the thread', async () => {
    await say(DEPLOYS, 'rolled back shop-db');
    await scene.control('fail', {
      method: 'conversations.info',
      kind: 'error',
      error: 'internal_error',
      times: 9,
    });
    expect(await gathered()).toMatchObject({
      state: 'could_not',
      line: 'Slack does not tell who would read it',
    });
  });
});

describe('Slack', () => {
  it('is asked once by twenty incidents at once', async () => {
    await say(DEPLOYS, 'rolled back shop-db');
    const all = await Promise.all(Array.from({ length: 20 }, () => gathered()));
    for (const { line } of all) expect(line).toContain('“rolled back shop-db”');
    expect((await calls('users.conversations'))?.total).toBe(1);
    // #alerts, #sentry-admin and #deploys.
    expect((await calls('conversations.history'))?.total).toBe(3);
  });

  it('is asked of ten channels, the incident’s own first and then those of alerts; how many are left is said', async () => {
    for (let at = 0; at < 14; at += 1)
      await scene.control('channel', {
        id: `A0MORE${at}`,
        name: `more-${at}`,
        members: [USERS.onCall, SENTRY_APP.botUserId],
      });
    const line = 'nothing in 10 channels; 7 more channels not read';
    expect(await gathered()).toMatchObject({ state: 'nothing', line });
    expect((await calls('conversations.history'))?.total).toBe(10);
    await say('A0MORE12', 'rolled back shop-db');
    await say('A0MORE13', 'shop-db is slow');
    part = await newPart(['#more-13']);
    expect((await gathered({ channel: 'A0MORE12' })).line).toMatch(
      /“rolled back shop-db”.*“shop-db is slow”; 7 more channels not read$/,
    );
  });

  it('tells the newest of a channel in one page', async () => {
    for (let at = 0; at < 230; at += 1)
      await scene.control('post-as-app', { channel: DEPLOYS, text: `alert ${at}` });
    await say(DEPLOYS, 'rolled back shop-db');
    expect((await gathered()).line).toContain('“rolled back shop-db”');
    expect((await calls('conversations.history'))?.total).toBe(3);
  });

  it('that asks to wait is not asked again before; that is said', async () => {
    await say(DEPLOYS, 'rolled back shop-db');
    await scene.control('fail', {
      method: 'users.conversations',
      kind: 'rate_limited',
      retry_after_s: 30,
      times: 1,
    });
    const one = { state: 'could_not', line: 'Slack asks Sentry to wait for 30 s' };
    expect(await gathered()).toMatchObject(one);
    expect(await gathered()).toMatchObject(one);
    expect(await calls('users.conversations')).toMatchObject({ total: 1, early: 0 });
  });

  it('that refuses one of the channels leaves no doubt that there may be more', async () => {
    const fail = {
      method: 'conversations.history',
      kind: 'error',
      error: 'missing_scope',
      times: 1,
    } as const;
    await scene.control('fail', fail);
    expect(await gathered()).toMatchObject({
      state: 'could_not',
      line: 'Slack says missing_scope. Install the app again with the scopes of manifest.yml.',
    });
    await say(DEPLOYS, 'rolled back shop-db');
    part = await newPart();
    await scene.control('fail', fail);
    expect((await gathered({ channel: CHANNELS.admin })).line).toMatch(
      /“rolled back shop-db”; some could not be read$/,
    );
  });

  it('that has taken the bot out of a channel meanwhile makes no gap', async () => {
    await gathered();
    await scene.control('channel', { id: DEPLOYS, members: [USERS.onCall] });
    part = await newPart();
    await scene.control('fail', {
      method: 'conversations.history',
      kind: 'error',
      error: 'not_in_channel',
      times: 1,
    });
    expect(await gathered()).toMatchObject({ state: 'nothing' });
  });
});
