import { WebClient, type WebClientOptions } from '@slack/web-api';
import type { Log } from '../../core/log.ts';
import type { Json } from '../../core/tool-call.ts';
import { outwardJson } from '../../safety/screen/boundary.ts';
import { boltLogger } from '../bolt-logger.ts';
import type { SlackConnection } from '../ports.ts';

/**
 * Options with our own ideas about time: the SDK's defaults wait for ever and repeat a post for half an hour, which
 * doubles messages. Always a new object: the SDK changes the one it is given.
 */
export function webClientOptions(connection: SlackConnection, log: Log): WebClientOptions {
  const url = connection.apiUrl;
  return {
    timeout: 15_000,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: boltLogger(log),
    ...(url ? { slackApiUrl: apiUrlOf(url) } : {}),
  };
}

/** With its last slash, and with Slack's own `/api/` where only a server is named. */
function apiUrlOf(given: string): string {
  const url = new URL(given);
  if (url.pathname === '/') url.pathname = '/api/';
  return url.href.endsWith('/') ? url.href : `${url.href}/`;
}

/** Names things in Slack or lets us in; anything else that is sent is for people to read. */
const OWN = new Set([
  'channel',
  'client_id',
  'client_secret',
  'cursor',
  'external_id',
  'hash',
  'interactivity_pointer',
  'latest',
  'message_ts',
  'metadata',
  'oldest',
  'refresh_token',
  'thread_ts',
  'token',
  'trigger_id',
  'ts',
  'user',
  'user_id',
  'users',
  'usergroup',
  'view_id',
]);

/** Whatever it says to Slack passes the boundary (screen/boundary.ts) on the way out. */
class ScreenedClient extends WebClient {
  override apiCall(method: string, options: Record<string, unknown> = {}): ReturnType<WebClient['apiCall']> {
    return super.apiCall(method, outwardJson(options as Json, OWN) as Record<string, unknown>);
  }
}

export const webClient = (connection: SlackConnection, log: Log): WebClient =>
  new ScreenedClient(connection.botToken, webClientOptions(connection, log));
