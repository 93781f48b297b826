import type { WebClient } from '@slack/web-api';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Finding } from '../../core/finding.ts';
import type { Log } from '../../core/log.ts';
import { createChannels } from '../people/channels.ts';
import { createUserDirectory, displayName } from '../people/user-directory.ts';
import type { SlackConnection } from '../ports.ts';
import { examineWorkspace, type Named } from './examine-workspace.ts';
import { socketRefusal } from './socket-refusal.ts';
import { webClient } from './web-client.ts';
import { codeOf } from './web-errors.ts';

/** Whom a token is of. */
export interface AskedSlack {
  /** In one line for people. */
  readonly says: string;
  /** How the app, the channels and the people stand. */
  readonly examine: () => Promise<readonly Finding[]>;
}

/**
 * Whether Slack takes the tokens.
 * @param namedFor who decides and where, in the workspace of this id
 * @throws OpsError SLACK_AUTH, SLACK_AWAY, SLACK_APP_TOKEN with what to do.
 */
export async function askSlack(
  connection: SlackConnection,
  namedFor: (team: string) => Promise<Named>,
  log: Log,
): Promise<AskedSlack> {
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
  if (connection.kind === 'socket') await askForSocket(connection, client, who.bot_id, log);
  const team = who.team_id ?? '';
  const channels = createChannels(client, log);
  const identity = {
    botId: who.bot_id ?? null,
    userId: who.user_id ?? '',
    teamId: team,
    enterpriseId: who.enterprise_id ?? null,
    teamUrl: who.url ?? '',
  };
  const directory = createUserDirectory(client, () => identity, channels.idOf);
  return {
    says: `${who.team ?? 'workspace'} as @${who.user ?? 'bot'}, over ${connection.kind === 'socket' ? 'Socket Mode' : 'HTTP'}`,
    examine: async () => examineWorkspace({ client, channels, directory }, await namedFor(team)),
  };
}

/** Whether Slack would open a Socket Mode connection, for the app that the bot token is of. None is opened. */
async function askForSocket(
  connection: Extract<SlackConnection, { kind: 'socket' }>,
  client: WebClient,
  bot: string | undefined,
  log: Log,
): Promise<void> {
  await webClient({ ...connection, botToken: connection.appToken }, log)
    .apps.connections.open({})
    .catch((error: unknown) => {
      const refused = socketRefusal(error);
      if (refused) throw refused;
      if (isRefusal(error)) return;
      throw new OpsError('SLACK_AWAY', `Slack opens no Socket Mode connection: ${codeOf(error)}`, {
        hint: 'Try again in a minute.',
        cause: error,
        retryable: true,
      });
    });
  // xapp-1-<the app's id>-…
  const ofApp = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(connection.appToken)?.[1];
  const app =
    bot && ofApp ? (await client.bots.info({ bot }).catch(() => undefined))?.bot?.app_id : undefined;
  if (app && ofApp && app !== ofApp)
    throw new OpsError(
      'SLACK_APP_TOKEN',
      `SLACK_APP_TOKEN is of the app ${ofApp}, and SLACK_BOT_TOKEN of ${app}`,
      { hint: 'Take both from the same app: what people press would go to the other one.' },
    );
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
