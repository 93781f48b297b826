import { messageOf } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import { isObject } from '../../core/json-of.ts';
import type { Guard, HttpAnswer, HttpRequest, Route } from '../route.ts';
import { type Authenticate, createAuthenticate, missingScope, type Tokens } from './authenticate.ts';
import type { Caller, Operation } from './operation.ts';
import { operations } from './operations.ts';
import type { Api } from './ports.ts';
import { createReadRequest, type ReadRequest } from './read-request.ts';

/** The API's routes, and the door that stands before them and everything else below their paths. */
export interface ApiRoutes {
  readonly routes: readonly Route[];
  readonly guard: Guard;
}

export function apiRoutes(api: Api, tokens: Tokens): ApiRoutes {
  const authenticate = createAuthenticate(tokens);
  const routes = operations.flatMap((operation) => {
    const at = { api, operation, authenticate, read: createReadRequest(operation) };
    const { path, formerPath } = operation;
    return [path, ...(formerPath === undefined ? [] : [formerPath])].map((one) => routeAt(one, at));
  });
  return {
    routes,
    guard: {
      roots: ['/api', '/memory'],
      admit(head) {
        const caller = authenticate(head);
        return 'status' in caller ? caller : { caller: caller.principal };
      },
    },
  };
}

interface At {
  readonly api: Api;
  readonly operation: Operation;
  readonly authenticate: Authenticate;
  readonly read: ReadRequest;
}

function routeAt(path: string, at: At): Route {
  const { operation, authenticate } = at;
  const { method, scope, body, bodyLimit } = operation;
  return {
    method,
    path: path.replace(/\{(\w+)\}/g, ':$1'),
    anyHost: true,
    ...(body === undefined ? {} : { bodyLimit: bodyLimit ?? 16 * 1024, mediaTypes: ['application/json'] }),
    admit(head) {
      const caller = authenticate(head);
      return 'status' in caller ? caller : missingScope(caller, scope);
    },
    async handle(request) {
      const caller = authenticate(request);
      return 'status' in caller ? caller : answered(at, caller, request);
    },
  };
}

interface Outcome extends HttpAnswer {
  readonly incidentId?: IncidentId;
}

/** What could not be put into the audit log is not said to be done. */
function answered(at: At, caller: Caller, request: HttpRequest): Promise<HttpAnswer> {
  const { api, operation } = at;
  const input = at.read(request);
  return orNotNow(at, async () => {
    const answer = await orNotNow(at, async () =>
      'status' in input ? input : operation.handle(api, { caller, ...input }),
    );
    if (operation.audited !== undefined)
      await api.audit.append({
        kind: operation.audited,
        // Who decides in the name of an admin is that admin.
        actor: 'status' in input ? caller.principal : (adminIn(input.body) ?? caller.principal),
        ...(answer.incidentId === undefined ? {} : { incidentId: answer.incidentId }),
        details: {
          method: operation.method,
          path: operation.path,
          id: Object.values(request.params).join(' ').slice(0, 80),
          status: answer.status,
        },
      });
    return answer;
  });
}

/** A fault of ours is answered 503 without details: whoever sends it again later may be answered. */
async function orNotNow({ api, operation }: At, answer: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await answer();
  } catch (error) {
    api.log.error({ operation: operation.id, error: messageOf(error) }, 'a request of the API failed');
    return NOT_NOW;
  }
}

const adminIn = (body: unknown): string | undefined =>
  isObject(body) && typeof body['as'] === 'string' ? body['as'] : undefined;

const NOT_NOW = {
  status: 503,
  headers: { 'retry-after': '5' },
  body: { error: 'it could not be done now: send it again' },
} as const;
