import type { IncomingMessage, ServerResponse } from 'node:http';
import { HTTPReceiver, type Receiver } from '@slack/bolt';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { boltLogger } from '../bolt-logger.ts';
import type { SlackConnection } from '../ports.ts';

/** Slack's own window for old requests; Bolt checks that one, but takes any time in the future. */
const SKEW_SECONDS = 300;

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Signed requests at `POST /slack/events`; `handler` is mounted on the HTTP server. */
export function httpReceiver(
  connection: Extract<SlackConnection, { readonly kind: 'http' }>,
  log: Log,
): { readonly receiver: Receiver; readonly handler: HttpHandler } {
  const receiver = new HTTPReceiver({
    signingSecret: connection.signingSecret,
    logger: boltLogger(log),
    // Not acknowledged: Slack sends it again.
    processEventErrorHandler: async ({ error, response }) => {
      log.error({ error: messageOf(error) }, 'an event from Slack was not taken in; Slack sends it again');
      if (!response.headersSent) response.writeHead(503).end();
      return false;
    },
  });
  const inner = receiver.requestListener;
  const handler: HttpHandler = (request, response) => {
    const stamp = Number(request.headers['x-slack-request-timestamp']);
    if (stamp > Date.now() / 1000 + SKEW_SECONDS) {
      response.writeHead(401).end();
      return;
    }
    try {
      inner(request, response);
    } catch (error) {
      log.debug({ error: messageOf(error) }, 'not a request of Slack');
      if (!response.headersSent) response.writeHead(404).end();
    }
  };
  return {
    handler,
    receiver: {
      init: (app) => receiver.init(app),
      start: async () => undefined,
      stop: async () => undefined,
    },
  };
}
