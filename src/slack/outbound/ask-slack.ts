import { messageOf, OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { createChannels } from '../people/channels.ts';
import { displayName } from '../people/user-directory.ts';
import type { SlackConnection } from '../ports.ts';
import { webClient } from './web-client.ts';

/**
 * Whether Slack takes the token and the bot is in its alert channels, in one line for people.
 * @throws OpsError SLACK_AUTH, SLACK_CHANNEL with what to do.
 */
export async function askSlack(
  connection: SlackConnection,
  alertChannels: readonly string[],
  log: Log,
): Promise<string> {
  const client = webClient(connection, log);
  const who = await client.auth.test().catch((error: unknown) => {
    throw isRefusal(error)
      ? new OpsError('SLACK_AUTH', `Slack refuses: ${messageOf(error)}`, {
          hint: 'Copy SLACK_BOT_TOKEN again from OAuth & Permissions, after installing the app to the workspace.',
          cause: error,
        })
      : new OpsError('SLACK_AWAY', `Slack cannot be reached: ${messageOf(error)}`, {
          hint: 'Look at the network, a proxy and the firewall: slack.com must be reachable over HTTPS. A private authority is named by NODE_EXTRA_CA_CERTS.',
          cause: error,
          retryable: true,
        });
  });
  const channels = createChannels(client, log);
  for (const name of alertChannels) {
    const channel = await channels.idOf(name);
    await client.conversations.history({ channel, limit: 1 }).catch((error: unknown) => {
      throw new OpsError('SLACK_CHANNEL', `#${name}: ${messageOf(error)}`, {
        hint: `Invite the bot to it (/invite @${who.user ?? 'sentry'}), or name another in SENTRY_ALERT_CHANNELS.`,
        cause: error,
      });
    });
  }
  return `${who.team ?? 'workspace'} as @${who.user ?? 'bot'}, in ${alertChannels.map((name) => `#${name}`).join(', ')}`;
}

/** It answered, and says no; everything else happens on the way. */
const isRefusal = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === 'slack_webapi_platform_error';

/** What people are called, by their ids; whom Slack does not tell is left out. */
export async function askNames(
  connection: SlackConnection,
  ids: readonly string[],
  log: Log,
): Promise<ReadonlyMap<string, string>> {
  const client = webClient(connection, log);
  const named = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      const answer = await client.users.info({ user: id }).catch(() => undefined);
      const name = displayName(answer?.user);
      return name ? [[id, name] as const] : [];
    }),
  );
  return new Map(named.flat());
}
