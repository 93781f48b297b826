import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf } from '../core/errors.ts';
import type { ConfigFile } from './config-file.ts';
import { wrong } from './wrong.ts';

/** A client of the MCP server, known by its secret. */
export interface McpCallerConfig {
  readonly name: string;
  readonly secret: string;
  /** Slack user id of whom it works for; null: of nobody. */
  readonly user: string | null;
}

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

/** Of `sentry.yaml`. */
export const mcpFields = { mcp_callers: z.array(caller).default([]) };

/** Of a file whose form has been checked with its targets. Throws OpsError CONFIG naming what is wrong. */
export function readMcpCallers(
  { raw, where }: ConfigFile,
  env: Readonly<Record<string, string | undefined>>,
  shared: string | undefined,
): readonly McpCallerConfig[] {
  const { mcp_callers: entries } = z.object(mcpFields).parse(raw ?? {});
  const callers: McpCallerConfig[] =
    shared === undefined ? [] : [{ name: SHARED, secret: shared, user: null }];
  for (const { name, user, ...from } of entries) {
    const of = `${where}: MCP caller "${name}"`;
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
  env: Readonly<Record<string, string | undefined>>,
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
