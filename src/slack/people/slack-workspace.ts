import type { WebClient } from '@slack/web-api';
import { OpsError } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { Audiences } from '../../memory/audiences.ts';
import { sayText } from '../outbound/tell.ts';
import { webClient } from '../outbound/web-client.ts';
import type { OwnIdentity, SlackConnection } from '../ports.ts';
import { escape } from '../views/blocks/text.ts';
import { type Access, createAccess } from './access.ts';
import { createAudiences } from './audiences.ts';
import { type Channels, createChannels } from './channels.ts';
import { askIdentity, type Identity } from './identity.ts';
import { createUserDirectory, type UserDirectory } from './user-directory.ts';

/** The workspace as services and the surface see it: who is who, who reads what. It calls Slack, and hears nothing from it. */
export interface SlackWorkspace {
  readonly connection: SlackConnection;
  /** For what a person waits for; its limits are not shared with the outbound module's. */
  readonly client: WebClient;
  readonly channels: Channels;
  /** Ids or names, as they are at the moment of asking; the first gets the incidents that come from elsewhere. */
  readonly alertChannels: Iterable<string>;
  readonly directory: UserDirectory;
  /** Who may read of an incident outside of its thread. */
  readonly access: Access;
  /** Who reads what is told of past incidents in a thread. */
  readonly audiences: Audiences;
  /** Asks Slack who the bot is, see `askIdentity`. */
  connect(signal: AbortSignal): Promise<void>;
  /** @throws OpsError SLACK_NOT_CONNECTED before that is known */
  identity(): Identity;
  /** The id of the workspace that the token is of; null before that is known. */
  team(): string | null;
  /** The same for telling our own messages apart; of nulls until it is known. */
  own(): OwnIdentity;
  /** Where the thread of an alert begins, by its delivery: where it was posted, while that is an alert channel; else in the first one. */
  homeOf(delivery: string | undefined): Promise<string>;
  /**
   * Says something that belongs to no incident, once, in a channel (name or id), else the first alert channel. Rejects when
   * it did not arrive.
   */
  announce(text: string, channel?: string): Promise<void>;
}

export function createSlackWorkspace(options: {
  readonly connection: SlackConnection;
  readonly alertChannels: Iterable<string>;
  readonly sql: Sql;
  readonly log: Log;
}): SlackWorkspace {
  const { connection, alertChannels, sql, log } = options;
  let who: Identity | undefined;
  const identity = (): Identity => {
    if (who) return who;
    throw new OpsError('SLACK_NOT_CONNECTED', 'Slack has not been reached yet.', {
      hint: 'Check SLACK_API_URL and the network.',
      retryable: true,
    });
  };
  const client = webClient(connection, log);
  const channels = createChannels(client, log);
  const directory = createUserDirectory(client, identity, channels.idOf);

  const firstChannel = (): Promise<string> => channels.idOf([...alertChannels][0] ?? 'alerts');

  async function homeOf(delivery = ''): Promise<string> {
    const posted = /^slack:([^:]+):/.exec(delivery)?.[1];
    if (posted !== undefined && (await channels.isAmong(posted, [...alertChannels]))) return posted;
    return firstChannel();
  }

  const access = createAccess({
    client,
    log,
    directory,
    home: async (id) => homeOf(await firstDelivery(sql, id)),
  });
  return {
    connection,
    client,
    channels,
    alertChannels,
    directory,
    access,
    audiences: createAudiences({ sql, access }),
    async connect(signal) {
      who = await askIdentity(client, log, signal);
    },
    identity,
    team: () => who?.teamId ?? null,
    own: () => ({ botId: who?.botId ?? null, userId: who?.userId ?? null }),
    homeOf,
    async announce(text, where) {
      const channel = await (where === undefined ? firstChannel() : channels.idOf(where));
      const { text: plain, blocks } = sayText(text);
      await client.chat.postMessage({
        channel,
        text: escape(plain),
        ...(blocks ? { blocks: [...blocks] } : {}),
      });
    },
  };
}

async function firstDelivery(sql: Sql, id: IncidentId): Promise<string | undefined> {
  const [first] = await sql<{ readonly key: string }>`
    SELECT delivery_key AS key FROM alert WHERE incident_id = ${id} ORDER BY id LIMIT 1`;
  return first?.key;
}
