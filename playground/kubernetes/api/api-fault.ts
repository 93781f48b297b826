import type { ServerResponse } from 'node:http';
import { ApiError, conflict, expired, internalError, tooManyRequests } from '../registry/api-error.ts';
import { findResource } from '../resources.ts';
import { refusal, type User } from './rbac.ts';
import type { RequestInfo } from './request-info.ts';
import { wishOf } from './request-info.ts';

/** What the API server does wrong to the next requests. */
export type ApiFault = FaultKind & {
  /** Which requests; all, when it is left out. */
  readonly on?: { readonly verb?: string; readonly resource?: string; readonly subresource?: string };
  /** How many of them; until `interfere(null)`, when it is left out. */
  readonly times?: number;
};

type FaultKind =
  | { readonly kind: 'forbidden' }
  /** Writes: somebody else was faster. */
  | { readonly kind: 'conflict' }
  /** Watches and pages of lists: what they go on from is forgotten. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'too_many_requests'; readonly retryAfterSeconds: number }
  | { readonly kind: 'server_error' }
  | { readonly kind: 'slow'; readonly ms: number }
  /** The connection ends, before the answer or in the middle of it; open watches end, too. */
  | { readonly kind: 'cut'; readonly after?: 'nothing' | 'half' }
  /** Lists come in pages of at most this many objects. */
  | { readonly kind: 'pages'; readonly size: number };

/** The fault of the moment, and whom it hits. */
export class FaultSwitch {
  #fault: ApiFault | null = null;
  #left = 0;

  set(fault: ApiFault | null): void {
    this.#fault = fault;
    this.#left = fault?.times ?? Number.POSITIVE_INFINITY;
  }

  /** The fault, if it is this request's turn. */
  take(request: RequestInfo): ApiFault | null {
    const fault = this.#fault;
    if (fault === null || this.#left <= 0 || !concerns(fault, request)) return null;
    this.#left -= 1;
    return fault;
  }
}

function concerns(fault: ApiFault, { verb, target, query }: RequestInfo): boolean {
  if (target === null) return false;
  const { on = {} } = fault;
  if (on.verb !== undefined && on.verb !== verb) return false;
  if (on.resource !== undefined && on.resource !== target.plural) return false;
  if (on.subresource !== undefined && on.subresource !== target.subresource) return false;
  if (fault.kind === 'conflict') return ['update', 'patch', 'delete'].includes(verb);
  if (fault.kind === 'gone') return verb === 'watch' || (verb === 'list' && query.has('continue'));
  return fault.kind !== 'pages' || verb === 'list';
}

/** The answer that the fault puts in the place of the real one; null: the request goes on. */
export function answerOf(fault: ApiFault, request: RequestInfo, user: User): ApiError | null {
  const { target } = request;
  switch (fault.kind) {
    case 'forbidden':
      return new ApiError(403, 'Forbidden', refusal(user, wishOf(request)), {
        ...(target?.name === undefined ? {} : { name: target.name }),
        ...(target === null ? {} : { group: target.group, kind: target.plural }),
      });
    case 'conflict': {
      const resource = target && findResource(target.group, target.version, target.plural);
      return resource ? conflict(resource, target.name ?? '') : null;
    }
    case 'gone':
      return expired('too old resource version: 1 (1001)');
    case 'too_many_requests':
      return tooManyRequests(
        'the server has received too many requests and has asked us to try again later',
        fault.retryAfterSeconds,
      );
    case 'server_error':
      return internalError('etcdserver: request timed out');
    case 'slow':
    case 'cut':
    case 'pages':
      return null;
  }
}

/** Ends the connection instead of an answer. */
export function cutOff(response: ServerResponse, after: 'nothing' | 'half' = 'half'): void {
  if (after === 'nothing') {
    response.destroy();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"kind":"');
  // The client is to have seen the beginning.
  setImmediate(() => response.destroy());
}
