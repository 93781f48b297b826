import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../../src/core/errors.ts';
import { hostNameOf, LOOPBACK_NAMES } from '../../src/http/known-host.ts';
import type { FaultAnswer, FaultPanel } from './fault-panel.ts';

const statusOf = { unknown_fault: 404, impossible: 409, busy: 409, already: 409, failed: 500 } as const;

/**
 * `GET /faults`; `POST /faults/<id>/cause` and `…/undo`. JSON, for the local workspace and for scripts; browsers of other
 * pages get nothing: no CORS, and what carries a foreign Origin or Host is refused.
 */
export function createFaultsServer(panel: FaultPanel): Server {
  return createServer((request, response) => {
    answer(panel, request, response).catch((error: unknown) =>
      send(response, 500, { ok: false, reason: messageOf(error) }),
    );
  });
}

async function answer(panel: FaultPanel, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const isOurs = (LOOPBACK_NAMES as readonly (string | null)[]).includes(hostNameOf(request));
  if (request.headers.origin !== undefined || !isOurs)
    return send(response, 403, { ok: false, reason: 'Only programs on this machine may ask.' });
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (pathname === '/faults' && request.method === 'GET')
    return send(response, 200, { faults: panel.list() });
  const [, id, what] = /^\/faults\/([a-z_]+)\/(cause|undo)$/.exec(pathname) ?? [];
  if (id === undefined) return send(response, 404, { ok: false, reason: `There is nothing at ${pathname}.` });
  if (request.method !== 'POST') return send(response, 405, { ok: false, reason: 'Use POST.' });
  const result: FaultAnswer = what === 'cause' ? await panel.cause(id) : await panel.undo(id);
  return send(response, result.ok ? 200 : statusOf[result.code], result);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(JSON.stringify(body));
}
