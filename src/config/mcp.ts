import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf } from '../core/errors.ts';
import type { McpServerConfig } from '../tools/mcp/server-config.ts';
import type { ConfigFile } from './config-file.ts';
import { httpUrl } from './kinds.ts';
import { wrong } from './wrong.ts';

/** A client of the MCP server, known by its secret. */
export interface McpCallerConfig {
  readonly name: string;
  readonly secret: string;
  /** Slack user id of whom it works for; null: of nobody. */
  readonly user: string | null;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Who sends SENTRY_MCP_SECRET. */
const SHARED = 'shared';
export const mcpSecret = z.string().min(16, 'at least 16 characters; openssl rand -hex 24 makes one');

const variable = z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'the name of a variable, like OLIVIA_MCP_SECRET');
const caller = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,38}$/, 'lower-case letters, digits and "-"; at most 39')
      .refine((name) => name !== SHARED, `"${SHARED}" is who sends SENTRY_MCP_SECRET`),
    secret_env: variable.optional(),
    secret_file: z.string().min(1).optional(),
    user: z
      .string()
      .regex(/^[UW][A-Z0-9]{2,20}$/, 'a Slack user id, like U0123ABCD')
      .optional(),
  })
  .refine(({ secret_env, secret_file }) => (secret_env === undefined) !== (secret_file === undefined), {
    error: 'expected either secret_env or secret_file',
  });

const toolNames = z.array(z.string().min(1).max(100)).max(40, 'at most 40 tools').default([]);
const variables = z.record(z.string().min(1).max(200), variable).default({});
const server = z
  .strictObject({
    name: z.string().regex(/^[a-z][a-z0-9]{0,19}$/, 'lower-case letters and digits; at most 20'),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).default([]),
    env: variables,
    // No fetch takes such a URL, and the error that says so holds it whole.
    url: httpUrl
      .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), 'a user and password belong into headers')
      .optional(),
    headers: variables,
    read: toolNames,
    act: toolNames,
    timeout_seconds: z.number().int().min(1).max(120).default(20),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    error: 'expected either command or url',
  })
  .refine(({ read, act }) => new Set([...read, ...act]).size === read.length + act.length, {
    error: 'a tool stands more than once in read and act',
  });

/** Of `sentry.yaml`. */
export const mcpFields = {
  mcp_callers: z.array(caller).default([]),
  mcp_servers: z.array(server).default([]),
};

/** As `readMcpCallers`. */
export function readMcpServers({ raw, placeOf }: ConfigFile, env: Env): readonly McpServerConfig[] {
  const { mcp_servers: entries } = z.object(mcpFields).parse(raw ?? {});
  const names = entries.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw wrong([
      `${placeOf(['mcp_servers', names.lastIndexOf(twice)])}: two MCP servers are called "${twice}"`,
    ]);
  return entries.map((entry, at) => {
    const { name, command, args, url = '', read, act, timeout_seconds: seconds, ...given } = entry;
    const of = `${placeOf(['mcp_servers', at])}: MCP server "${name}"`;
    return {
      name,
      read,
      act,
      timeoutMs: seconds * 1_000,
      transport:
        command === undefined
          ? { kind: 'http', url, headers: headersOf(given.headers, env, of) }
          : { kind: 'stdio', command, args, env: valuesOf(given.env, env, of) },
    };
  });
}

/** What is named by a variable of ours, under the name that the server knows it by. */
function valuesOf(
  named: Readonly<Record<string, string>>,
  env: Env,
  of: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(named).map(([name, from]) => {
      const value = env[from];
      if (value === undefined) throw wrong([`${of}: ${name}: the variable ${from} is not set`]);
      return [name, value];
    }),
  );
}

/** The same, where each value can stand in one line of a request: an error of whoever sends another would hold it whole. */
function headersOf(
  named: Readonly<Record<string, string>>,
  env: Env,
  of: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(valuesOf(named, env, of)).map(([name, given]) => {
      const value = given.trim();
      if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
        throw wrong([`${of}: ${name}: the value of ${named[name]} cannot stand in a header`]);
      return [name, value];
    }),
  );
}

/** Of a file whose form has been checked with its targets. Throws OpsError CONFIG naming what is wrong. */
export function readMcpCallers(
  { raw, placeOf }: ConfigFile,
  env: Env,
  shared: string | undefined,
): readonly McpCallerConfig[] {
  const { mcp_callers: entries } = z.object(mcpFields).parse(raw ?? {});
  const callers: McpCallerConfig[] =
    shared === undefined ? [] : [{ name: SHARED, secret: shared, user: null }];
  for (const [at, { name, user, ...from }] of entries.entries()) {
    const of = `${placeOf(['mcp_callers', at])}: MCP caller "${name}"`;
    const secret = mcpSecret.safeParse(secretOf(from, env, of));
    if (!secret.success) throw wrong([`${of}: its secret: ${secret.error.issues[0]?.message}`]);
    const twin = callers.find((one) => one.name === name || one.secret === secret.data);
    if (twin) throw wrong([`${of}: another ("${twin.name}") has the same name or secret`]);
    callers.push({ name, secret: secret.data, user: user ?? null });
  }
  return callers;
}

function secretOf(
  { secret_env: variable, secret_file: file }: Pick<z.infer<typeof caller>, 'secret_env' | 'secret_file'>,
  env: Env,
  of: string,
): string | undefined {
  if (file === undefined) {
    const value = variable === undefined ? undefined : env[variable];
    if (value === undefined) throw wrong([`${of}: the variable ${variable} is not set`]);
    return value;
  }
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw wrong([`${of}: secret_file: ${messageOf(error)}`]);
  }
}
