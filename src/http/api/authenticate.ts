import type { ApiToken } from '../../core/api-token.ts';
import { apiPrincipal } from '../../core/principal.ts';
import { timingSafeEqual } from '../../safety/timing-safe-equal.ts';
import type { HttpAnswer, HttpHead } from '../route.ts';
import type { Caller, Scope } from './operation.ts';

/** Who may call; neither: the API is off. */
export interface Tokens {
  readonly tokens: readonly ApiToken[];
  /** SENTRY_ADMIN_TOKEN. */
  readonly adminToken: string | null;
}

/** Finds who calls, or says why nobody is let in. */
export type Authenticate = (head: HttpHead) => Caller | HttpAnswer;

/** All secrets are compared, whichever it is: neither length nor common prefix nor place in the list is told. */
export function createAuthenticate({ tokens, adminToken }: Tokens): Authenticate {
  const callers: ReadonlyArray<{ readonly secret: string; readonly caller: Caller }> = [
    ...tokens.map(({ name, secret, scopes }) => ({
      secret,
      caller: { principal: apiPrincipal(name), scopes },
    })),
    ...(adminToken === null ? [] : [{ secret: adminToken, caller: ADMIN }]),
  ];
  if (callers.length === 0) return () => OFF;
  return ({ headers }) => {
    const given = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim();
    if (given === undefined) return UNAUTHORISED;
    return callers.filter(({ secret }) => timingSafeEqual(given, secret))[0]?.caller ?? UNAUTHORISED;
  };
}

/** It reads what an admin decides about, which comes from every incident. */
const ADMIN: Caller = { principal: 'admin-api', scopes: ['read', 'private', 'admin'] };

const UNAUTHORISED: HttpAnswer = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer' },
  body: {
    error: 'expected a token of SENTRY_API_TOKENS, or SENTRY_ADMIN_TOKEN, as "Authorization: Bearer …"',
  },
};

const OFF: HttpAnswer = {
  status: 403,
  body: {
    error: 'the API is off: set SENTRY_API_TOKENS or SENTRY_ADMIN_TOKEN, and send one as a bearer token',
  },
};

/** Null: it may. RFC 6750 has the header. */
export function missingScope({ scopes }: Caller, scope: Scope): HttpAnswer | null {
  if (scopes.includes(scope)) return null;
  const asked = scope === 'admin' ? 'SENTRY_ADMIN_TOKEN' : `a token with the scope ${scope}`;
  return {
    status: 403,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    body: { error: `this needs ${asked}` },
  };
}
