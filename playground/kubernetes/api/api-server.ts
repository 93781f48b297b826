import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parse as parseYaml } from 'yaml';
import type { Pod } from '../objects.ts';
import {
  ApiError,
  badRequest,
  internalError,
  notFound,
  unsupportedMediaType,
} from '../registry/api-error.ts';
import { findResource } from '../resources.ts';
import { type Answer, type ApiServices, ok, type ResourceRequest } from './api-context.ts';
import { type ApiFault, answerOf, cutOff, type FaultSwitch } from './api-fault.ts';
import { discover } from './discovery.ts';
import { asVersion } from './events-view.ts';
import type { Identities } from './identities.ts';
import { sendLog } from './logs.ts';
import { answerMetrics } from './metrics.ts';
import { answerObjects, found } from './objects-api.ts';
import { sendOpenApi } from './openapi.ts';
import { bind, evict } from './pod-subresources.ts';
import { readProtobufReview } from './protobuf-review.ts';
import { isAllowed, refusal, type User } from './rbac.ts';
import { parseRequest, type RequestInfo, wishOf } from './request-info.ts';
import { answerReview } from './reviews.ts';
import { answerScale } from './scale.ts';
import { isMap } from './strategic-merge.ts';
import { asTable, wantsTable } from './tables.ts';
import { watch } from './watch.ts';

/** What was asked of the server, by whom. */
export interface AskedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly user: string;
  readonly dryRun: boolean;
}

export interface ApiServerParts extends ApiServices {
  readonly identities: Identities;
  readonly faults: FaultSwitch;
  readonly asked: AskedRequest[];
}

const MAX_BODY_BYTES = 3_000_000;
/** A playground may run for weeks. */
const REMEMBERED = 10_000;

/** Answers one request as the API server does: who, may they, what; every refusal is a `Status`. */
export async function answerRequest(
  parts: ApiServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('audit-id', crypto.randomUUID());
  try {
    await answer(parts, request, response);
  } catch (error) {
    const status = error instanceof ApiError ? error : internalError(String(error));
    if (response.headersSent) response.destroy();
    else sendStatus(response, status);
  }
}

async function answer(
  parts: ApiServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = request;
  const info = parseRequest(method, url);
  const user = parts.identities.authenticate(headers.authorization);
  const body = parseBody(await readBody(request), headers['content-type'] ?? '', info.path);
  const dryRun = isDry(method, body, info.query);
  parts.asked.push({ method, path: url, user: user.name, dryRun });
  if (parts.asked.length > REMEMBERED) parts.asked.shift();
  const fault = parts.faults.take(info);
  if (fault?.kind === 'slow') await wait(fault.ms);
  if (fault?.kind === 'cut') return cutOff(response, fault.after);
  const spoiled = fault && answerOf(fault, info, user);
  if (spoiled) throw spoiled;
  authorize(parts, info, user);
  const { target } = info;
  const resource = target === null ? undefined : findResource(target.group, target.version, target.plural);
  if (target === null || resource === undefined) return discovery(info, response);
  const contentType = (headers['content-type'] ?? 'application/json').split(';')[0] ?? '';
  const asked: ResourceRequest = {
    info,
    resource,
    target,
    user,
    dryRun,
    contentType,
    body,
    ...pagesOf(fault),
  };
  const accept = headers.accept ?? '';
  const includeObject = info.query.get('includeObject');
  if (info.verb === 'watch') {
    return watch(
      parts.store,
      {
        resource,
        namespace: target.namespace,
        query: info.query,
        show: (object) => {
          const shown = asVersion(resource, object);
          return wantsTable(accept) ? asTable(resource, shown, includeObject) : shown;
        },
      },
      response,
    );
  }
  if (target.subresource === 'log')
    return sendLog(parts.logs, found(parts, asked) as Pod, info.query, response);
  const { code, body: answered } = answerResource(parts, asked);
  const isListed = wantsTable(accept) && (info.verb === 'get' || info.verb === 'list');
  send(response, code, isListed ? asTable(resource, answered, includeObject) : answered);
}

const pagesOf = (fault: ApiFault | null) => (fault?.kind === 'pages' ? { pageSize: fault.size } : {});

function authorize({ store }: ApiServices, info: RequestInfo, user: User): void {
  const wish = wishOf(info);
  if (isAllowed(store, user, wish)) return;
  const { target } = info;
  throw new ApiError(403, 'Forbidden', refusal(user, wish), {
    ...(target?.name === undefined ? {} : { name: target.name }),
    ...(target === null || target.group === '' ? {} : { group: target.group }),
    ...(target === null ? {} : { kind: target.plural }),
  });
}

function answerResource(parts: ApiServerParts, request: ResourceRequest): Answer {
  const { resource, target } = request;
  if (resource.group === 'metrics.k8s.io') return ok(answerMetrics(parts.store, request));
  if (resource.group === 'authorization.k8s.io') return answerReview(parts, request);
  const { subresource } = target;
  if (subresource === undefined) return answerObjects(parts, request);
  if (!resource.subresources.includes(subresource)) throw notFound(resource, target.name ?? '');
  if (subresource === 'scale') return answerScale(parts, request);
  if (subresource === 'eviction') return evict(parts, request);
  if (subresource === 'binding') return bind(parts, request);
  return answerObjects(parts, request);
}

function discovery({ path }: RequestInfo, response: ServerResponse): void {
  if (path === '/openapi/v2') return sendOpenApi(response);
  const told = discover(path);
  if (told === null) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('404 page not found\n');
  } else if (typeof told === 'string') {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(told);
  } else send(response, 200, told);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new ApiError(413, 'RequestEntityTooLarge', 'limit is 3145728', {});
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

function parseBody(body: Buffer, type: string, path: string): unknown {
  if (body.length === 0) return undefined;
  if (type.startsWith(PROTOBUF)) {
    if (path.endsWith('/selfsubjectaccessreviews')) return readProtobufReview(body);
    throw unsupportedMediaType(['application/json', 'application/yaml']);
  }
  const text = body.toString('utf8');
  try {
    return type.includes('yaml') ? parseYaml(text) : JSON.parse(text);
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${String(error)}`);
  }
}

/** Of a delete, the options are in the body; clients leave out of which kind they are. */
/** A deletion that has a body has its options there: those in its address are not read then (apiserver, handlers/delete.go). */
const isDry = (method: string, body: unknown, query: URLSearchParams): boolean =>
  method === 'DELETE' && isMap(body)
    ? Array.isArray(body['dryRun']) && body['dryRun'].includes('All')
    : query.getAll('dryRun').includes('All');

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.end(JSON.stringify(body));
}

function sendStatus(response: ServerResponse, error: ApiError): void {
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined) response.setHeader('retry-after', String(retry));
  send(response, error.code, error.status());
}
