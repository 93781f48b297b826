import type { IncomingMessage, ServerResponse } from 'node:http';
import { Arguments } from './arguments.ts';
import type { CallCounters } from './call-counters.ts';
import { BadRequest, readArguments, sendJson, sendText } from './http-io.ts';
import { METHODS } from './methods/registry.ts';
import type { RateLimits } from './rate-limits.ts';
import { APPS, type InstalledApp, SENTRY_APP } from './seed.ts';
import type { SlackContext } from './slack-context.ts';
import { SlackError } from './slack-error.ts';
import { retryAfterSeconds, type Switches } from './switches.ts';
import { refuseOlder } from './validate/older.ts';
import { asText } from './validate/rules.ts';

export interface WebApiParts {
  readonly slack: SlackContext;
  readonly switches: Switches;
  readonly limits: RateLimits;
  readonly counters: CallCounters;
}

const APP_LEVEL_METHODS = new Set(['apps.connections.open']);

/** `/api/<method>`: who calls, may they, is a switch in the way, then the method, answered as Slack answers. */
export async function serveWebApi(
  parts: WebApiParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const method = url.pathname.slice('/api/'.length);
  const body = await readBodyOf(request, url);
  await parts.switches.whenThawed();
  await parts.switches.whenDue(method);
  if (parts.switches.tellsToWait(method)) parts.counters.countEarly(method);
  const outcome = run(parts, request, response, method, body);
  parts.counters.count(method, outcome);
}

/** Answers, and says how: "ok", "ratelimited" or a code. */
function run(
  parts: WebApiParts,
  request: IncomingMessage,
  response: ServerResponse,
  method: string,
  body: Readonly<Record<string, unknown>> | SlackError,
): string {
  const failure = parts.switches.takeFailure(method);
  switch (failure?.kind) {
    case 'rate_limited':
      return tooMany(response, retryAfterSeconds(failure));
    case 'server_error':
      sendText(response, 500, 'internal error');
      return 'http_500';
    case 'hang_up':
      request.socket.destroy();
      return 'hang_up';
    case 'error':
      return refuse(response, new SlackError(failure.error ?? 'internal_error'));
    case 'server_error_after':
    case 'hang_up_after':
    case undefined:
      break;
  }
  let answer: Record<string, unknown>;
  try {
    if (body instanceof SlackError) throw body;
    const handler = METHODS.get(method);
    if (handler === undefined) throw new SlackError('unknown_method');
    const app = callerOf(request, method, body);
    const wait = parts.limits.take(app.id, method, asText(body['channel']));
    if (wait > 0) return tooMany(response, wait);
    if (parts.switches.isUnknown(method)) throw new SlackError('unknown_method');
    const args = new Arguments(body).without(['token', ...parts.switches.droppedFields()]);
    refuseOlder(parts.switches, args, method);
    answer = handler({ slack: parts.slack, app, args });
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return refuse(response, error);
  }
  if (failure?.kind === 'server_error_after') {
    sendText(response, 500, 'internal error');
    return 'http_500_after';
  }
  if (failure?.kind === 'hang_up_after') {
    request.socket.destroy();
    return 'hang_up_after';
  }
  sendJson(response, 200, { ok: true, ...answer }, { 'x-oauth-scopes': parts.switches.scopes().join(',') });
  return 'ok';
}

/** Throws `not_authed`, `invalid_auth`, `not_allowed_token_type`. */
function callerOf(
  request: IncomingMessage,
  method: string,
  body: Readonly<Record<string, unknown>>,
): InstalledApp {
  if (method === 'api.test') return SENTRY_APP;
  const header = request.headers.authorization ?? '';
  const token = header.startsWith('Bearer ') ? header.slice(7) : asText(body['token']);
  if (token === '') throw new SlackError('not_authed');
  const isAppToken = token === SENTRY_APP.appToken;
  const app = isAppToken ? SENTRY_APP : APPS.find((each) => each.botToken === token);
  if (app === undefined) throw new SlackError('invalid_auth');
  if (isAppToken !== APP_LEVEL_METHODS.has(method)) throw new SlackError('not_allowed_token_type');
  return app;
}

/** What cannot be read is refused in Slack's way, with HTTP 200, unless it is too large. */
async function readBodyOf(request: IncomingMessage, url: URL): Promise<Record<string, unknown> | SlackError> {
  try {
    return await readArguments(request, url);
  } catch (error) {
    if (error instanceof BadRequest && error.status === 400)
      return new SlackError('invalid_json', [error.message]);
    throw error;
  }
}

function tooMany(response: ServerResponse, seconds: number): string {
  sendJson(response, 429, { ok: false, error: 'ratelimited' }, { 'retry-after': String(seconds) });
  return 'ratelimited';
}

function refuse(response: ServerResponse, error: SlackError): string {
  const messages = error.messages.length === 0 ? {} : { response_metadata: { messages: error.messages } };
  sendJson(response, 200, { ok: false, error: error.code, ...error.more, ...messages });
  return error.code;
}
