import type { IncomingMessage, ServerResponse } from 'node:http';
import { Arguments } from './arguments.ts';
import type { controlHandlers } from './control.ts';
import { BadRequest, readArguments, readJson, sendJson, sendText } from './http-io.ts';
import type { PageServer } from './page-server.ts';
import type { personActions } from './person-actions.ts';
import { fieldProblem } from './required-fields.ts';
import { respond } from './respond.ts';
import { SlackError } from './slack-error.ts';
import { receiveUpload, serveCanvas, serveFile } from './uploads.ts';
import { refuseOlder } from './validate/older.ts';
import { serveWebApi, type WebApiParts } from './web-api.ts';
import { receiveWebhook } from './webhooks.ts';

export interface Routes {
  readonly api: WebApiParts;
  readonly page: PageServer;
  readonly people: ReturnType<typeof personActions>;
  readonly control: ReturnType<typeof controlHandlers>;
  readonly onFault: (error: unknown) => void;
}

type Handler = (body: never) => unknown;

/** One HTTP request, answered whatever happens. `refusal`: why the visitor may not be here at all. */
export async function routeRequest(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
  refusal: string | undefined,
): Promise<void> {
  try {
    if (refusal !== undefined) sendJson(response, 403, { ok: false, error: 'forbidden', reason: refusal });
    else await route(routes, request, response);
  } catch (error) {
    const expected = error instanceof BadRequest;
    if (!expected) routes.onFault(error);
    if (response.headersSent || response.destroyed) return;
    const reason = error instanceof Error ? error.message : String(error);
    sendJson(response, expected ? error.status : 500, {
      ok: false,
      error: expected ? 'bad_request' : 'internal_error',
      reason,
    });
  }
}

async function route(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const path = url.pathname;
  if (path.startsWith('/api/')) return serveWebApi(routes.api, request, response, url);
  if (request.method === 'GET' && path.startsWith('/files/'))
    return serveFile(routes.api.slack, response, path);
  if (request.method === 'GET' && path.startsWith('/docs/'))
    return serveCanvas(routes.api.slack, response, path);
  if (request.method === 'GET') return routes.page.serve(response, path);
  if (request.method !== 'POST') return sendText(response, 405, 'method not allowed', { allow: 'GET, POST' });
  if (path.startsWith('/page/api/')) return perform(routes.people, path.slice(10), request, response);
  if (path.startsWith('/control/act/')) return perform(routes.people, path.slice(13), request, response);
  if (path.startsWith('/control/')) return perform(routes.control, path.slice(9), request, response);
  if (path.startsWith('/services/')) return webhook(routes, request, response, url);
  if (path.startsWith('/actions/')) return responseUrl(routes, request, response, path);
  if (path.startsWith('/upload/v1/')) return receiveUpload(routes.api.slack, request, response, path);
  return sendText(response, 404, 'not found');
}

/** A named action with a JSON body; a refusal is an answer, not a failure. */
async function perform(
  handlers: Readonly<Record<string, Handler>>,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readJson(request);
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (handler === undefined) {
    const reason = `There is no ${name}; there is ${Object.keys(handlers).join(', ')}.`;
    sendJson(response, 404, { ok: false, error: 'unknown_action', reason });
    return;
  }
  const problem = fieldProblem(name, body);
  if (problem !== undefined) throw new BadRequest(400, problem);
  try {
    const answer = await handler(body as never);
    sendJson(response, 200, { ok: true, ...(answer as object) });
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    sendJson(response, 200, { ok: false, error: error.code, reason: error.message });
  }
}

async function webhook(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const body = await readArguments(request, url);
  await routes.api.switches.whenThawed();
  const wait = routes.api.limits.take(url.pathname, 'chat.postMessage', '');
  if (wait > 0) return sendText(response, 429, 'rate_limited', { 'retry-after': String(wait) });
  try {
    receiveWebhook(routes.api.slack, url.pathname, body);
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    const missing = error.code === 'invalid_token' || error.code === 'channel_not_found';
    return sendText(response, missing ? 404 : 400, error.code);
  }
  return sendText(response, 200, 'ok');
}

async function responseUrl(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const body = await readJson(request);
  await routes.api.switches.whenThawed();
  const { slack, switches } = routes.api;
  try {
    refuseOlder(switches, new Arguments(body));
    respond(slack, slack.responseUrls.use(path.split('/').at(-1) ?? ''), body);
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return sendJson(response, 404, { ok: false, error: error.code });
  }
  return sendJson(response, 200, { ok: true });
}
