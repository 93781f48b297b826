import { afterEach, describe, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import { LocalSlackClient, textOf } from '../support/local-slack.ts';
import { type Product, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { GREEN, GREY, type IncidentThread, nextThread, stripOf } from './incident-thread.ts';
import { openShopDb, type ShopDb } from './shop-db.ts';

/** What many servers that speak Slack's API do not have. */
const MODERN = [
  'chat.startStream',
  'chat.appendStream',
  'chat.stopStream',
  'agents.sessions.setStatus',
  'assistant.threads.setStatus',
  'usergroups.list',
  'usergroups.users.list',
  'files.getUploadURLExternal',
  'files.completeUploadExternal',
];

/** With these gone too, nothing is left but to post, to edit, to receive and to ask who somebody is: who is nobody decides nothing. */
const NEARLY_ALL = [
  ...MODERN,
  'api.test',
  'bookmarks.add',
  'bots.info',
  'chat.delete',
  'chat.getPermalink',
  'chat.postEphemeral',
  'conversations.history',
  'conversations.info',
  'conversations.join',
  'conversations.list',
  'conversations.members',
  'conversations.open',
  'conversations.replies',
  'pins.add',
  'reactions.add',
  'reactions.remove',
  'team.info',
  'users.conversations',
  'users.list',
  'views.open',
  'views.publish',
  'views.push',
  'views.update',
];

interface Rig {
  readonly slack: LocalSlackClient;
  readonly shop: ShopDb;
  readonly product: Product;
}

// Sentry as configured for a real workspace, by tokens and SLACK_API_URL: it does not start or know this server.
describe('a Slack that lacks what newer ones have', () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  async function begin(
    unknown: readonly string[],
    env: (server: LocalSlack) => Readonly<Record<string, string>>,
  ): Promise<Rig> {
    const server = await createLocalSlack();
    ends.push(() => server.close());
    const slack = new LocalSlackClient(server.url);
    await slack.control('unknown-methods', { methods: unknown });
    await slack.control('drop-fields', { fields: ['metadata', 'include_all_metadata'] });
    const dataDir = scratchDir();
    const product = await startProduct({
      dataDir,
      env: {
        SLACK_BOT_TOKEN: SENTRY_APP.botToken,
        SENTRY_MODE: 'ACTIVE',
        SENTRY_APPROVERS: USERS.onCall,
        ...env(server),
      },
    });
    ends.push(() => product.stop());
    const shop = openShopDb(dataDir);
    ends.push(() => shop.close());
    return { slack, shop, product };
  }

  /** From the fault to the green root; what is particular to a server is looked at while the card waits. */
  async function play(
    { slack, shop }: Rig,
    whileWaiting: (thread: IncidentThread) => Promise<void>,
  ): Promise<void> {
    await shop.fault('blocked_sessions', 'cause');
    const thread = await nextThread(slack);
    const [blocker] = await shop.rootBlockers();
    const { message, command } = await thread.card();
    expect(message.channel).toBe(CHANNELS.alerts);
    expect(command).toContain(`pid = ${blocker} AND`);
    await thread.reply(/Investigated .*· almost certain/);
    await slack.waitForMessage(
      (each) => each.ts === thread.rootTs && textOf(each).includes(`Session ${blocker} `),
    );
    await slack.asUser(USERS.stranger).press(message, { actionId: 'sentry_approve' });
    const refused = await slack.waitForEphemeral(USERS.stranger);
    expect(textOf(refused)).toMatch(/^Only .+ may approve this/);
    await whileWaiting(thread);
    expect(await shop.hasSession(blocker as number)).toBe(true);
    await slack.asUser(USERS.onCall).press(message, { actionId: 'sentry_approve' });
    const root = await thread.resolved();
    expect(stripOf(root)).toBe(GREEN);
    expect(await shop.hasSession(blocker as number)).toBe(false);
    expect(textOf(await thread.reply(/Fixed/))).toContain('Fixed');
    await slack.asUser(USERS.onCall).command(CHANNELS.alerts, '/sentry why');
    const why = await slack.waitForEphemeral(USERS.onCall, (each) => textOf(each).includes('approved by'));
    expect(textOf(why)).toContain(command);
    expect((await slack.counters()).duplicates).toEqual([]);
  }

  /** *Show output* in the window *Evidence*, and a mention answered in the thread. */
  async function lookAround(slack: LocalSlackClient, thread: IncidentThread): Promise<void> {
    const olivia = slack.asUser(USERS.onCall);
    await olivia.press(await thread.reply(/Investigated/), { actionId: 'sentry_diagnosis' });
    const evidence = await slack.waitForView(USERS.onCall, (view) =>
      JSON.stringify(view).includes('sentry_output'),
    );
    await olivia.pressIn(evidence, { actionId: 'sentry_output' });
    await slack.waitForView(USERS.onCall, (view) => JSON.stringify(view).includes('root: pid'));
    await olivia.say(CHANNELS.alerts, `<@${SENTRY_APP.botUserId}> what is it now?`, thread.rootTs);
    await thread.reply(/Waiting for approval since/);
  }

  it('plays the whole scene in Socket Mode; a group that cannot be asked keeps nobody out who is named', async () => {
    const rig = await begin(MODERN, (server) => ({
      SLACK_APP_TOKEN: SENTRY_APP.appToken,
      SLACK_API_URL: server.apiUrl.replace(/\/$/, ''),
      SENTRY_APPROVERS: `${USERS.onCall},group:oncall`,
    }));
    expect(rig.product.output()).toContain('connected by Socket Mode');
    await rig.shop.fault('blocked_sessions', 'cause');
    const thread = await nextThread(rig.slack);
    const { message } = await thread.card();
    await rig.slack.asUser(USERS.onCall2).press(message, { actionId: 'sentry_approve' });
    const refused = await rig.slack.waitForEphemeral(USERS.onCall2);
    expect(textOf(refused)).toMatch(/could not say who may approve/);
    await lookAround(rig.slack, thread);
    await rig.slack.asUser(USERS.onCall).press(message, { actionId: 'sentry_approve' });
    expect(stripOf(await thread.resolved())).toBe(GREEN);
  });

  it('plays it over signed HTTP requests', async () => {
    const rig = await begin(MODERN, (server) => ({
      SLACK_SIGNING_SECRET: SENTRY_APP.signingSecret,
      SLACK_API_URL: server.apiUrl,
    }));
    expect(rig.product.output()).toContain('connected over HTTP');
    const url = `${rig.product.httpUrl}/slack/events`;
    expect(await rig.slack.control('events-url', { url, verify: true })).toMatchObject({ ok: true });
    await play(rig, (thread) => lookAround(rig.slack, thread));
    const { bot } = await rig.slack.snapshot();
    expect(bot).toEqual({ mode: 'http', connections: 0 });
  });

  it('plays it where a bot can only post, edit and receive, given the bare address of the server', async () => {
    const rig = await begin(NEARLY_ALL, (server) => ({
      SLACK_APP_TOKEN: SENTRY_APP.appToken,
      SLACK_API_URL: server.url,
      SENTRY_ALERT_CHANNELS: '#alerts',
    }));
    await play(rig, async (thread) => {
      const olivia = rig.slack.asUser(USERS.onCall);
      await olivia.press(await thread.reply(/Investigated/), { actionId: 'sentry_diagnosis' });
      const evidence = await rig.slack.waitForEphemeral(USERS.onCall, (each) =>
        JSON.stringify(each).includes('sentry_output'),
      );
      await olivia.press(evidence, { actionId: 'sentry_output' });
      const output = await rig.slack.waitForEphemeral(USERS.onCall, (each) =>
        textOf(each).includes('postgres_blocking_tree'),
      );
      expect(textOf(output)).toContain('root: pid');
    });
  });

  it('takes alerts from messages of other apps, by the name of the channel, and ends with them', async () => {
    const rig = await begin(MODERN, (server) => ({
      SLACK_APP_TOKEN: SENTRY_APP.appToken,
      SLACK_API_URL: server.apiUrl,
    }));
    await rig.slack.waitForBot();
    const post = (status: string, color: string) =>
      rig.slack.control('post-as-app', {
        channel: CHANNELS.alerts,
        kind: 'classic',
        username: 'Alertmanager',
        attachments: [
          { title: `[${status}] DiskWillFill (shop-db:5432 warning)`, text: 'In 4 hours.', color },
        ],
      });
    await post('FIRING:1', 'danger');
    const thread = await nextThread(rig.slack);
    await post('RESOLVED', 'good');
    await waitFor('the incident to be resolved', async () => stripOf(await thread.root()) === GREY, {
      timeoutMs: 45_000,
    });
  });
});
