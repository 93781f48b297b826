import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SHORTCUTS as LOCAL } from '../../../playground/slack/seed.ts';
import { SHORTCUTS as ANSWERED } from '../../../src/slack/inbound/shortcuts/register.ts';
import { BOT_SCOPES } from '../../../src/slack/outbound/scopes.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const text = readFileSync(`${root}manifest.yml`, 'utf8');
const schema = JSON.parse(readFileSync(`${root}test/support/manifest.schema.json`, 'utf8')) as object;
const source = readdirSync(`${root}src/slack`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(`${root}src/slack/${name}`, 'utf8'))
  .join('\n');

interface Manifest {
  readonly features: {
    readonly shortcuts: readonly {
      readonly name: string;
      readonly type: string;
      readonly callback_id: string;
    }[];
    readonly slash_commands: readonly { readonly command: string; readonly url?: string }[];
  };
  readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } };
  readonly settings: {
    readonly event_subscriptions: { readonly bot_events: readonly string[]; readonly request_url?: string };
    readonly interactivity: { readonly request_url?: string };
    readonly socket_mode_enabled: boolean;
  };
}

/** The manifest as its own comments say to change it for HTTP. */
const httpText = text
  .replace(/^(\s*)# (.*) # HTTP$/gm, '$1$2')
  .replace('socket_mode_enabled: true', 'socket_mode_enabled: false');
const modes = [
  ['Socket Mode', parse(text) as Manifest],
  ['HTTP', parse(httpText) as Manifest],
] as const;

/** What each Web API method the code calls needs (docs.slack.dev, reference of methods). */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  'agents.sessions.setStatus': ['assistant:write'],
  'assistant.threads.setStatus': ['assistant:write'],
  'assistant.threads.setSuggestedPrompts': ['assistant:write'],
  'assistant.threads.setTitle': ['assistant:write'],
  'auth.test': [],
  'bots.info': ['users:read'],
  'chat.appendStream': ['chat:write'],
  'chat.delete': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.startStream': ['chat:write'],
  'chat.stopStream': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': ['channels:history', 'groups:history', 'im:history', 'metadata.message:read'],
  'conversations.info': ['channels:read', 'groups:read'],
  'conversations.join': ['channels:join'],
  'conversations.list': ['channels:read', 'groups:read'],
  'conversations.open': ['im:write'],
  'conversations.members': ['channels:read', 'groups:read'],
  'conversations.replies': ['channels:history', 'groups:history', 'im:history', 'metadata.message:read'],
  'usergroups.list': ['usergroups:read'],
  'usergroups.users.list': ['usergroups:read'],
  'users.info': ['users:read'],
  'users.lookupByEmail': ['users:read.email'],
  'views.open': [],
  'views.publish': [],
  'views.push': [],
  'views.update': [],
};

/** What each event the code listens to needs as a subscription, and each subscription as a scope. */
const SUBSCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  agent_session_stopped: { agent_session_stopped: null },
  app_home_opened: { app_home_opened: null },
  app_mention: { app_mention: 'app_mentions:read' },
  message: {
    'message.channels': 'channels:history',
    'message.groups': 'groups:history',
    'message.im': 'im:history',
  },
};

const found = (pattern: RegExp): ReadonlySet<string> =>
  new Set([...source.matchAll(pattern)].map((match) => match[1] ?? ''));
const called = found(
  /client\s*\.((?:agents|assistant|auth|chat|conversations|usergroups|users|views)(?:\.\w+)+)/g,
);
const listened = found(/app\.event\('(\w+)'/g);

describe.each(modes)('the manifest for %s', (mode, manifest) => {
  it('is valid by Slack’s names and limits', () => {
    const validate = new Ajv({ allErrors: true, strict: true }).compile(schema);
    expect(validate(manifest), JSON.stringify(validate.errors)).toBe(true);
  });

  it('says where requests go exactly when there is no Socket Mode', () => {
    const { features, settings } = manifest;
    const urls = [
      features.slash_commands[0]?.url,
      settings.event_subscriptions.request_url,
      settings.interactivity.request_url,
    ];
    expect(settings.socket_mode_enabled).toBe(mode === 'Socket Mode');
    for (const url of urls)
      expect(url).toEqual(mode === 'HTTP' ? expect.stringMatching(/^https:.*\/slack\/events$/) : undefined);
  });

  it('asks for every scope the code’s calls need, and knows all of them', () => {
    expect(called.size).toBeGreaterThan(10);
    const bot = manifest.oauth_config.scopes.bot;
    for (const method of called) {
      expect(Object.keys(SCOPES), `scopes of ${method} are not listed`).toContain(method);
      expect(bot, method).toEqual(expect.arrayContaining([...(SCOPES[method] ?? [])]));
    }
  });

  it('asks for the scopes that are told to be missing, and for no other', () => {
    expect([...manifest.oauth_config.scopes.bot].sort()).toEqual(Object.keys(BOT_SCOPES).sort());
  });

  it('asks for no scope that nothing needs', () => {
    const needed = new Set([
      'commands',
      // chat.postMessage to a person opens the direct message.
      'im:write',
      'im:read',
      ...Object.values(SUBSCRIPTIONS).flatMap((each) => Object.values(each)),
      ...[...called].flatMap((method) => SCOPES[method] ?? []),
    ]);
    expect(manifest.oauth_config.scopes.bot.filter((scope) => !needed.has(scope))).toEqual([]);
  });

  it('subscribes to exactly the events the code listens to', () => {
    const wanted = [...listened].flatMap((event) =>
      Object.keys(SUBSCRIPTIONS[event] ?? { [`${event}?`]: null }),
    );
    expect([...manifest.settings.event_subscriptions.bot_events].sort()).toEqual(wanted.sort());
  });
});

it('its shortcuts are those that the code answers, and those of the local Slack', () => {
  const { shortcuts } = (parse(text) as Manifest).features;
  expect(shortcuts.map((each) => each.callback_id)).toEqual(Object.keys(ANSWERED));
  expect(shortcuts.map(({ type, name, callback_id }) => ({ type, name, callback_id }))).toEqual(LOCAL);
  // Slack's limit.
  for (const { name } of shortcuts) expect(name.length).toBeLessThanOrEqual(24);
});

it('the check would notice a wrong manifest', () => {
  const validate = new Ajv({ strict: true }).compile(schema);
  const good = parse(text) as Record<string, unknown>;
  expect(validate({ ...good, display_information: { name: 'x'.repeat(36) } })).toBe(false);
  expect(validate({ ...good, features: { slash_commands: [{ command: 'sentry', description: 'x' }] } })).toBe(
    false,
  );
  expect(validate({ ...good, surprise: true })).toBe(false);
});
