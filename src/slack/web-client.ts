import { WebClient, type WebClientOptions } from '@slack/web-api';
import type { Log } from '../domain/log.ts';
import { boltLogger } from './bolt-logger.ts';
import type { SlackConnection } from './ports.ts';

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

export const webClient = (connection: SlackConnection, log: Log): WebClient =>
  new WebClient(connection.botToken, webClientOptions(connection, log));
