import type { IncomingMessage, ServerResponse } from 'node:http';
import { HTTPReceiver, type Receiver } from '@slack/bolt';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { boltLogger } from '../bolt-logger.ts';
import type { SlackConnection } from '../ports.ts';

/** Slack's own window for old requests; Bolt checks that one, but takes any time in the future. */
const SKEW_SECONDS = 300;
const SAY_EVERY_MS = 60_000;

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
  // Anybody can send what is not Slack's: one line for all that come in a minute.
  let saidAt = Number.NEGATIVE_INFINITY;
  const say = (skewSeconds: number): void => {
    if (performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    if (Math.abs(skewSeconds) > SKEW_SECONDS)
      log.warn(
        { todo: 'Set the clock of this machine (NTP).' },
        `a request to /slack/events was refused: its time differs from the clock here by ${Math.round(Math.abs(skewSeconds) / 60)} min`,
      );
    else
      log.warn(
        { todo: 'Copy it again: app settings → Basic Information → Signing Secret.' },
        'a request to /slack/events was refused: it is not signed with SLACK_SIGNING_SECRET',
      );
  };
  const handler: HttpHandler = (request, response) => {
    const stamp = Number(request.headers['x-slack-request-timestamp']);
    const skew = stamp - Date.now() / 1000;
    const isSigned = request.headers['x-slack-signature'] !== undefined;
    response.once('finish', () => {
      if (response.statusCode === 401 && isSigned) say(skew);
    });
    if (skew > SKEW_SECONDS) {
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
