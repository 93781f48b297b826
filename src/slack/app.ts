import { App, type Receiver } from '@slack/bolt';
import type { Log } from '../core/log.ts';
import { boltLogger } from './bolt-logger.ts';
import { webClientOptions } from './outbound/web-client.ts';
import type { Identity } from './people/identity.ts';
import type { SlackConnection } from './ports.ts';

/** Bolt with its own conversation store, token checks and retries off: who we are is asked once, and kept over outages. */
export function createBoltApp(
  connection: SlackConnection,
  receiver: Receiver,
  identity: () => Identity,
  log: Log,
): App {
  const app = new App({
    receiver,
    logger: boltLogger(log),
    convoStore: false,
    clientOptions: webClientOptions(connection, log),
    authorize: async () => {
      const { botId, userId, teamId } = identity();
      return {
        botToken: connection.botToken,
        botUserId: userId,
        teamId,
        ...(botId ? { botId } : {}),
      };
    },
  });
  // The inbox decides what a failed event means: here it must not be swallowed.
  app.error(async (error) => {
    throw error;
  });
  return app;
}
