import { jsonOf } from '../core/json-of.ts';
import { timingSafeEqual } from '../safety/timing-safe-equal.ts';
import type { HttpAnswer, HttpHead, Route } from './route.ts';

/** Whoever sends this secret is the client of that name. */
export interface McpCaller {
  readonly name: string;
  readonly secret: string;
  /** The Slack user it works for; null: nobody in particular. */
  readonly user: string | null;
}

export interface McpRouteOptions {
  readonly callers: readonly McpCaller[];
  readonly answer: (
    caller: McpCaller,
    request: { readonly headers: Readonly<Record<string, string>>; readonly body: unknown },
  ) => Promise<{ readonly status: number; readonly contentType: string | null; readonly body: string }>;
}

/** A call is a few fields; what is pasted into one is cut by the tools long before. */
const BODY_LIMIT = 256 * 1024;
/** Calls of all clients under way: each may hold a connection to a system for as long as its tool takes. */
const MAX_AT_ONCE = 32;
/** What the protocol reads of a request's head. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version'];

/** `POST /mcp`, MCP's streamable HTTP without sessions; none where nobody has a secret. */
export function mcpRoutes({ callers, answer }: McpRouteOptions): readonly Route[] {
  if (callers.length === 0) return [];
  let underWay = 0;
  return [
    {
      method: 'POST',
      path: '/mcp',
      bodyLimit: BODY_LIMIT,
      mediaTypes: ['application/json'],
      admit: (head) => (callerOf(head, callers) === undefined ? unauthorised : null),
      async handle(request) {
        const caller = callerOf(request, callers);
        if (!caller) return unauthorised;
        const message = jsonOf(request.body.toString('utf8'));
        // One message a request, as the protocol has it: a batch would pass the limit of requests as one.
        if (message === undefined || Array.isArray(message)) return notOneMessage;
        if (underWay >= MAX_AT_ONCE) return busy;
        underWay += 1;
        try {
          const { status, contentType, body } = await answer(caller, {
            headers: Object.fromEntries(
              HEADERS.flatMap((name) =>
                name in request.headers ? [[name, String(request.headers[name])]] : [],
              ),
            ),
            body: message,
          });
          return {
            status,
            body,
            ...(contentType === null ? {} : { headers: { 'content-type': contentType } }),
          };
        } finally {
          underWay -= 1;
        }
      },
    },
  ];
}

/** All are compared, whichever it is: neither length nor common prefix nor place in the list is told. */
function callerOf({ headers }: HttpHead, callers: readonly McpCaller[]): McpCaller | undefined {
  const given = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim();
  if (given === undefined) return undefined;
  return callers.filter(({ secret }) => timingSafeEqual(given, secret))[0];
}

const unauthorised: HttpAnswer = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer' },
  body: { error: 'expected the secret of an MCP client as "Authorization: Bearer …"' },
};
const notOneMessage: HttpAnswer = { status: 400, body: { error: 'expected one JSON-RPC message' } };
const busy: HttpAnswer = {
  status: 503,
  headers: { 'retry-after': '1' },
  body: { error: `${MAX_AT_ONCE} calls are under way: try again` },
};
