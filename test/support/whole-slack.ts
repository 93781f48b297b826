import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import { WebSocket } from 'ws';
import { createLocalSlack } from '../../playground/slack/local-slack.ts';
import type { PageDelta } from '../../playground/slack/page-api.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import type { Message, View } from '../../playground/slack/slack-shapes.ts';
import type { Settings } from '../../src/actions/policy/workspace-settings.ts';
import { NO_CHROMA } from '../../src/app/chroma.ts';
import { createServices, type Services } from '../../src/app/services.ts';
import { createSlackSide } from '../../src/app/slack-side.ts';
import { openStore } from '../../src/app/store.ts';
import { loadConfig } from '../../src/config/config.ts';
import { kinds } from '../../src/targets/kinds.ts';
import type { PostgresConfig } from '../../src/targets/postgres/config.ts';
import { LocalSlackClient } from './local-slack.ts';
import { patience } from './patience.ts';
import { scratchDatabase } from './postgres.ts';
import { quiet } from './quiet.ts';
import { scratchDir } from './scratch-dir.ts';
import { seenText } from './seen-text.ts';
import { socketTo } from './slack-bot.ts';

/** What Bolt listens to: names and regular expressions, as they were registered. */
export type Registered = Readonly<Record<'action' | 'view' | 'shortcut' | 'command', readonly string[]>>;

/** What one person was shown since they were last asked: answers to them alone, direct messages, windows. */
export interface Shown {
  readonly how: 'told' | 'window';
  readonly text: string;
  /** What of it is read without a press, and the text of a notification. */
  readonly seen: string;
}

/**
 * The product's own Slack surface with every service behind it, on a local Slack and a database of its own. Nothing is worked on:
 * no turn begins, and no paging runs, so what changes on record was done by whoever pressed.
 */
export interface WholeSlack {
  readonly services: Services;
  readonly client: LocalSlackClient;
  /** As the bot, to post what stands there from before. */
  readonly web: WebClient;
  readonly registered: Registered;
  /** All that a person was shown so far, oldest first. */
  readonly shown: (userId: string) => readonly Shown[];
  close(): Promise<void>;
}

/** Notes what is registered on every Bolt app that is made meanwhile. */
export function noteRegistrations(): { readonly registered: Registered; readonly end: () => void } {
  const registered = { action: [], view: [], shortcut: [], command: [] } as Record<
    keyof Registered,
    string[]
  >;
  const originals = Object.keys(registered).map((name) => {
    const method = name as keyof Registered;
    const original = App.prototype[method] as (...given: unknown[]) => unknown;
    App.prototype[method] = function noting(this: App, ...given: unknown[]) {
      const [what] = given;
      registered[method].push(
        typeof what === 'string' || what instanceof RegExp ? String(what) : JSON.stringify(what),
      );
      return original.apply(this, given);
    } as never;
    return [method, original] as const;
  });
  return {
    registered,
    end: () => {
      for (const [method, original] of originals) App.prototype[method] = original as never;
    },
  };
}

/** `yaml`: what stands in its sentry.yaml; `fixed`: what is set beside what every test needs. */
export async function wholeSlack({
  yaml = '{}',
  fixed = {},
}: {
  readonly yaml?: string;
  readonly fixed?: Settings;
} = {}): Promise<WholeSlack> {
  const database = await scratchDatabase({ migrate: true });
  const slack = await createLocalSlack({
    rateLimits: { enabled: false },
    timing: { ackMs: 3_000 * patience, triggerMs: 3_000 * patience },
  });
  const dataDir = scratchDir();
  const file = join(dataDir, 'sentry.yaml');
  writeFileSync(file, yaml);
  const config = loadConfig({
    SENTRY_CONFIG: file,
    DATABASE_URL: database.url,
    SENTRY_DATA_DIR: dataDir,
    SENTRY_MODE: 'ACTIVE',
    // There is a model, and nobody reaches it.
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    SENTRY_VAULT_KEY: randomBytes(32).toString('hex'),
  });
  const store = await openStore(config, quiet);
  const shop: PostgresConfig = {
    name: 'shop-db',
    kind: 'postgres',
    domain: 'postgres',
    environment: 'playground',
    aliases: ['shop'],
    readUrl: database.url,
    actUrl: database.url,
  };
  const services = await createServices({
    config,
    store,
    chromaHost: NO_CHROMA,
    slack: socketTo(slack.apiUrl),
    playgroundPorts: [],
    kinds,
    targets: [shop],
    fixed: {
      alertChannels: ['alerts'],
      approvers: [{ kind: 'group', name: 'oncall' }],
      admins: [{ kind: 'user', id: USERS.admin }],
      oncallGroup: 'oncall',
      adminChannel: 'sentry-admin',
      ...fixed,
    },
    log: quiet,
  });
  const noting = noteRegistrations();
  const side = createSlackSide(services);
  noting.end();
  await services.memory.seedStores();
  await services.workspace.start();
  services.bus.start();
  await side.start();
  const client = new LocalSlackClient(slack.url);
  await client.waitForBot();
  const page = await watchPage(slack.url);
  return {
    services,
    client,
    web: new WebClient(SENTRY_APP.botToken, { slackApiUrl: slack.apiUrl }),
    registered: noting.registered,
    shown: page.shown,
    async close() {
      page.end();
      services.shutdown.abort();
      await side.stop();
      await services.workspace.stop();
      await services.systems.close();
      await services.bus.stop();
      await services.vault.close();
      services.loopWatch.stop();
      await slack.close();
      await store.stop();
      await database.drop();
    },
  };
}

/** Keeps what each person is shown, as their page hears of it. */
async function watchPage(
  url: string,
): Promise<{ readonly shown: (userId: string) => readonly Shown[]; readonly end: () => void }> {
  const seen = new Map<string, Shown[]>();
  const add = (userId: string, one: Shown): void => {
    seen.set(userId, [...(seen.get(userId) ?? []), one]);
  };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/page/ws`, { origin: url });
  await new Promise((resolve, reject) => {
    socket.once('message', resolve);
    socket.once('error', reject);
  });
  socket.on('message', (data: Buffer) => {
    const delta = JSON.parse(data.toString()) as PageDelta;
    if (delta.type === 'ephemeral') add(delta.ephemeral.userId, shownOf(delta.ephemeral.message));
    if (delta.type === 'views') {
      const top = delta.stack.at(-1);
      if (top) add(delta.userId, { how: 'window', text: textOfView(top), seen: seenText(top as never) });
    }
    if (delta.type === 'message' && delta.message.channel.startsWith('D')) {
      const to = Object.values(USERS).find(
        (id) => delta.message.channel === `D${id.slice(1)}${SENTRY_APP.botUserId.slice(1)}`,
      );
      if (to && delta.message.bot_id === SENTRY_APP.botId) add(to, shownOf(delta.message));
    }
  });
  return { shown: (userId) => seen.get(userId) ?? [], end: () => socket.close() };
}

const shownOf = (message: Message): Shown => ({
  how: 'told',
  text: textOfMessage(message),
  seen: `${message.text}\n${seenText({ blocks: message.blocks as never })}`,
});

/** As it is read, and below that all that is in it, folded or not. */
const textOfMessage = ({ text, blocks = [] }: Message): string =>
  [text, seenText({ blocks: blocks as never }), JSON.stringify(blocks)].join('\n');
const textOfView = ({ title, blocks }: View): string =>
  [seenText({ blocks: blocks as never }), JSON.stringify(title), JSON.stringify(blocks)].join('\n');

/** Where the buttons of the tests stand. */
export const HERE = CHANNELS.alerts;
