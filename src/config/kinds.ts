import { readdirSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { type ApiScope, type ApiToken, apiScopes } from '../core/api-token.ts';
import { channelPrincipal, type Principal } from '../core/principal.ts';
import { whyNot } from '../core/system-fault.ts';
import { readLimits } from '../safety/limits/throttle.ts';

export const principals = z
  .string()
  .default('')
  .transform((text, context): readonly Principal[] => {
    const found: Principal[] = [];
    for (const part of text
      .split(',')
      .map((piece) => piece.trim())
      .filter(Boolean)) {
      if (part.startsWith('group:') && part.length > 6) found.push({ kind: 'group', name: part.slice(6) });
      else if (part.startsWith('channel:') && part.length > 8) {
        const channel = channelPrincipal(part.slice(8));
        if ('wrong' in channel) context.addIssue(channel.wrong);
        else found.push(channel);
      } else if (/^[UW][A-Z0-9]{2,}$/.test(part)) found.push({ kind: 'user', id: part });
      else context.addIssue(`"${part}" is neither a Slack user id (U…), group:<handle> nor channel:<id>`);
    }
    return found;
  });

export const list = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) =>
      text
        .split(',')
        .map((piece) => piece.trim())
        .filter(Boolean),
    );

/** A folder that has to be there. `what`: what it is expected to be, with where that is described. */
export const folder = (what: string) => onDisk(what, (path) => void readdirSync(path));

/** A file that has to be there; what it says is judged by who reads it. */
export const file = (what: string) => onDisk(what, (path) => void statSync(path));

const onDisk = (what: string, look: (path: string) => void) =>
  z
    .string()
    .min(1)
    .superRefine((path, context) => {
      try {
        look(path);
      } catch (error) {
        context.addIssue(`${path}: ${whyNot(error)}; expected ${what}`);
      }
    });

/** Names as they stand in a request's Host, without port. */
export const hostNames = list('').refine(
  (names) => names.every((name) => /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]*[a-z0-9])$/i.test(name)),
  { error: 'expected names separated by commas, like sentry.example.com: no https://, no port' },
);

/** Addresses and networks, of proxies. */
export const networks = list('').refine((found) => found.every(isNetwork), {
  error: 'expected addresses separated by commas, like 192.0.2.7 or 10.1.0.0/16',
});

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const most: number | undefined = { 4: 32, 6: 128 }[isIP(address)];
  if (most === undefined || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

/** `source=secret` pairs separated by commas: the secrets of webhooks that have one of their own. */
export const webhookSecrets = list('').transform((pairs, context): ReadonlyMap<string, string> => {
  const found = pairs.map((pair) => /^([a-z0-9-]+)=(.{8,})$/.exec(pair)?.slice(1, 3) as [string, string]);
  if (!found.every(Boolean))
    context.addIssue(
      'expected source=secret pairs separated by commas, each secret of at least 8 characters',
    );
  return new Map(found.filter(Boolean));
});

/** Who sends SENTRY_ADMIN_TOKEN. */
const ADMIN = 'admin';

/**
 * `name=secret`, which may read, or `name:scope+scope=secret`, separated by commas: who may call the HTTP API. No problem
 * repeats what was written: a secret stands in it.
 */
export const apiTokens = list('').transform((parts, context): readonly ApiToken[] => {
  const found: ApiToken[] = [];
  for (const [at, part] of parts.entries()) {
    const token = apiTokenIn(part);
    const twin = found.find(({ name, secret }) => name === token?.name || secret === token?.secret);
    if (token === null)
      context.addIssue(
        `entry ${at + 1}: expected name=secret or name:scope+scope=secret, as ci:read+trigger=…; a name of lower-case letters, digits and "-", scopes of ${apiScopes.join(', ')}, and a secret of at least 16 characters without commas (openssl rand -hex 24 makes one)`,
      );
    else if (token.name === ADMIN)
      context.addIssue(`entry ${at + 1}: "${ADMIN}" is who sends SENTRY_ADMIN_TOKEN`);
    else if (twin) context.addIssue(`entry ${at + 1}: another ("${twin.name}") has the same name or secret`);
    else found.push(token);
  }
  return found;
});

function apiTokenIn(part: string): ApiToken | null {
  const [, name = '', scopes = 'read', secret = ''] =
    /^([a-z0-9][a-z0-9-]{0,38})(?::([a-z+]+))?=(.{16,})$/.exec(part) ?? [];
  const named = scopes.split('+');
  const isKnown = (scope: string): scope is ApiScope => apiScopes.some((one) => one === scope);
  return name !== '' && named.every(isKnown) ? { name, secret, scopes: named } : null;
}

export const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0'], { error: 'expected true or false' })
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true' || text === '1');

/** As people write a number: JavaScript would also take `0x10` and `1e3`. */
export const numberFrom = (min: number, max: number, error: string) =>
  z
    .string()
    .trim()
    .refine((text) => /^\d{1,15}(\.\d{1,6})?$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error,
    })
    .transform(Number);

export const whole = (min: number, max: number) =>
  numberFrom(min, max, `expected a whole number from ${min} to ${max}`).refine(Number.isInteger, {
    error: `expected a whole number from ${min} to ${max}`,
  });

export const limits = z.string().superRefine((text, context) => {
  const read = readLimits(text);
  if (typeof read === 'string') context.addIssue(read);
});
/** `365d` as days; null for `off`. */
export const retention = z
  .string()
  .regex(/^([7-9]|[1-9]\d{1,4})d$|^off$/, { error: 'expected days, at least 7, like 365d, or off' })
  .transform((text) => (text === 'off' ? null : Number(text.slice(0, -1))));
/** `5/10m`: US dollars in so many minutes. */
export const costLimit = z.string().regex(/^\d{1,6}(\.\d{1,2})?\/[1-9]\d{0,3}m$/, {
  error: 'expected US dollars in so many minutes, like 5/10m',
});
export const dollars = (fallback: number) =>
  numberFrom(0, 1e9, 'expected US dollars, like 10 or 2.50').default(fallback);
export const httpUrl = z.url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' });

/** As `fetch_docs` reads its list (src/safety/urls): a name of at least two labels. */
const isDocsHost = (host: string): boolean =>
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u.test(
    host,
  );

/** The seed's two; whoever names others names these as well, or does without. */
export const docsHosts = list('docs.python.org,stackoverflow.com').refine(
  (hosts) => hosts.every(isDocsHost),
  {
    error: 'expected names of hosts, like docs.example.com: no addresses, ports, paths or wildcards',
  },
);

export const token = (prefix: string, what: string, where: string) =>
  z.string().refine((text) => text.startsWith(prefix), {
    error: (issue) => {
      const got = String(issue.input).slice(0, 5);
      return `starts with "${got}", expected ${what} (${prefix}…). ${where}`;
    },
  });
