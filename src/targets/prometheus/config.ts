import { z } from 'zod';
import type { EntryOf, TargetConfig } from '../kind.ts';

/** A server that is asked over HTTP, as Prometheus and Loki are. */
export interface HttpConfig extends TargetConfig {
  /** Without a slash at its end; its API is below it. */
  readonly url: string;
  /** What goes with each question: who asks, and as which tenant. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: no credential, or a token. */
  readonly username: string | null;
}

// Whoever writes the credential itself here must not read it again in the error.
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable');

/** The fields of such a server in `sentry.yaml`, besides those of every target. */
export const httpFields = {
  /** One of any kind's: whose memory and runbooks fit what it watches. */
  domain: z.string().optional(),
  url: z
    .string()
    .regex(
      /^https?:\/\/[^/@\s?#]+(\/[^@\s?#]*)?$/,
      'expected http(s)://HOST:PORT, and no user or password in it',
    ),
  /** A bearer token. */
  token_env: variable.optional(),
  /** With `password_env`: basic authentication. */
  username: z
    .string()
    .regex(/^[^:\s]+$/)
    .optional(),
  password_env: variable.optional(),
  /** `X-Scope-OrgID`, for servers of several tenants. */
  tenant: z
    .string()
    .regex(/^[\w.@-]{1,150}$/)
    .optional(),
} as const;

/** From its entry in `sentry.yaml`; what is wrong across its fields, never what a variable holds. */
export function readHttp(
  { url, token_env: token, username, password_env: password, tenant, ...target }: EntryOf<typeof httpFields>,
  env: Readonly<Record<string, string | undefined>>,
): HttpConfig | readonly string[] {
  if (!URL.canParse(url)) return ['url: expected http(s)://HOST:PORT'];
  if ((username === undefined) !== (password === undefined))
    return ['password_env: username and password_env belong together'];
  if (token !== undefined && password !== undefined) return ['token_env: name a token or a user, not both'];
  const problems = [token, password].flatMap((name) =>
    name === undefined || isHeaderText(env[name]) ? [] : [`${name} is not set, or is more than one line`],
  );
  if (problems.length > 0) return problems;
  const secret = (name: string): string => env[name] ?? '';
  return {
    ...target,
    url: url.replace(/\/+$/, ''),
    username: username ?? null,
    headers: {
      ...(tenant === undefined ? {} : { 'x-scope-orgid': tenant }),
      ...(token === undefined ? {} : { authorization: `Bearer ${secret(token)}` }),
      ...(password === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(`${username}:${secret(password)}`).toString('base64')}` }),
    },
  };
}

const isHeaderText = (value: string | undefined): boolean =>
  value !== undefined && /^[\x20-\x7e]+$/.test(value);
