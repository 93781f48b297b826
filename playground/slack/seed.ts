import type { Person, Shortcut, SlashCommand } from './page-api.ts';
import type { Channel, User, UserGroup } from './slack-shapes.ts';

/**
 * What the local workspace contains when it is created. Every id and token is an obvious fake: nothing here
 * opens anything but this server, which listens on 127.0.0.1 only.
 */
export const TEAM = { id: 'T0PLAYGROUND', name: 'Playground', domain: 'playground' } as const;

export const SENTRY_APP = {
  id: 'A0SENTRY',
  name: 'Sentry',
  botId: 'B0SENTRY',
  botUserId: 'U0SENTRY',
  botToken: 'xoxb-playground',
  appToken: 'xapp-playground',
  signingSecret: 'playground-signing-secret',
  verificationToken: 'playground-verification',
} as const;

/** Another app of the workspace: what a real Alertmanager's Slack receiver posts as. */
export const ALERTMANAGER_APP = {
  id: 'A0ALERTMANAGER',
  name: 'Alertmanager',
  botId: 'B0ALERTMANAGER',
  botUserId: 'U0ALERTMANAGER',
  botToken: 'xoxb-playground-alertmanager',
} as const;

export const CHANNELS = { alerts: 'C0ALERTS', admin: 'C0ADMIN', general: 'C0GENERAL' } as const;

export const USERS = {
  onCall: 'U0ONCALL',
  onCall2: 'U0ONCALL2',
  admin: 'U0ADMIN',
  stranger: 'U0STRANGER',
} as const;

export const ON_CALL_GROUP = 'S0ONCALL';

/**
 * Incoming webhooks, as paths below this server. A classic one posts a `bot_message` without a user, as a real
 * Alertmanager's `slack_configs` with `api_url` does; a modern one posts with `user`, `bot_id` and `bot_profile`.
 */
export const WEBHOOKS = {
  [`/services/${TEAM.id}/B0ALERTMANAGER/playground-alerts`]: { channel: CHANNELS.alerts, kind: 'classic' },
  [`/services/${TEAM.id}/B0ALERTMANAGER/playground-modern`]: { channel: CHANNELS.alerts, kind: 'modern' },
} as const satisfies Record<string, { channel: string; kind: 'classic' | 'modern' }>;

export const PEOPLE: readonly Person[] = [
  { userId: USERS.onCall, label: 'Olivia · on-call engineer', role: 'on-call' },
  { userId: USERS.onCall2, label: 'Noah · second on-call engineer', role: 'on-call' },
  { userId: USERS.admin, label: 'Amara · admin', role: 'admin' },
  { userId: USERS.stranger, label: 'Sam · not on call', role: 'stranger' },
];

export const COMMANDS: readonly SlashCommand[] = [
  { command: '/sentry', description: 'Ask the on-call colleague', usage_hint: 'help' },
];

/** Those of manifest.yml. */
export const SHORTCUTS: readonly Shortcut[] = [
  { type: 'message', name: 'Investigate this', callback_id: 'investigate_message' },
  { type: 'message', name: 'Add to memory', callback_id: 'remember_message' },
  { type: 'message', name: 'Not an incident', callback_id: 'not_an_incident' },
];

/** An installed app, as the server authenticates and addresses it. */
export interface InstalledApp {
  readonly id: string;
  readonly name: string;
  readonly botId: string;
  readonly botUserId: string;
  readonly botToken: string;
}

export const APPS: readonly InstalledApp[] = [SENTRY_APP, ALERTMANAGER_APP];

const CREATED = 1_760_000_000;

export const SEED_USERS: readonly User[] = [
  human(USERS.onCall, 'olivia', 'Olivia Park', 'On-call engineer', false),
  human(USERS.onCall2, 'noah', 'Noah Weber', 'On-call engineer, second', false),
  human(USERS.admin, 'amara', 'Amara Diallo', 'Platform lead', true),
  human(USERS.stranger, 'sam', 'Sam Rivers', 'Marketing', false),
  bot(SENTRY_APP, 'sentry'),
  bot(ALERTMANAGER_APP, 'alertmanager'),
];

/** The bots are not in #general, so that `not_in_channel` can be met; #sentry-admin has only admins and the bot. */
export const SEED_CHANNELS: readonly Channel[] = [
  channel(CHANNELS.alerts, 'alerts', 'Alerts of all systems', [
    ...Object.values(USERS),
    SENTRY_APP.botUserId,
    ALERTMANAGER_APP.botUserId,
  ]),
  channel(CHANNELS.admin, 'sentry-admin', 'Promotions, approvals and the kill switch', [
    USERS.admin,
    USERS.onCall,
    SENTRY_APP.botUserId,
  ]),
  channel(CHANNELS.general, 'general', 'Everybody', Object.values(USERS)),
];

export const SEED_USER_GROUPS: readonly UserGroup[] = [
  {
    id: ON_CALL_GROUP,
    team_id: TEAM.id,
    handle: 'oncall',
    name: 'On call',
    users: [USERS.onCall, USERS.onCall2],
  },
];

function human(id: string, name: string, realName: string, title: string, admin: boolean): User {
  return {
    id,
    team_id: TEAM.id,
    name,
    real_name: realName,
    is_bot: false,
    is_admin: admin,
    is_owner: admin,
    tz: 'Etc/UTC',
    deleted: false,
    profile: { display_name: name, real_name: realName, title },
  };
}

function bot(app: InstalledApp, name: string): User {
  return {
    ...human(app.botUserId, name, app.name, '', false),
    is_bot: true,
    profile: { display_name: name, real_name: app.name, title: '', bot_id: app.botId, api_app_id: app.id },
  };
}

export function channel(id: string, name: string, topic: string, members: readonly string[]): Channel {
  return { id, name, topic, members, is_channel: true, is_im: false, is_private: false, created: CREATED };
}

/** What the bot's token may do; sent as `x-oauth-scopes`, as Slack does. Nothing is refused for want of a scope. */
export const BOT_SCOPES: readonly string[] = [
  'app_mentions:read',
  'assistant:write',
  'bookmarks:write',
  'channels:history',
  'channels:join',
  'channels:read',
  'chat:write',
  'commands',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'im:read',
  'im:write',
  'metadata.message:read',
  'pins:write',
  'reactions:read',
  'reactions:write',
  'usergroups:read',
  'users:read',
  'users:read.email',
];
