import { z } from 'zod';
import type { EntryOf, TargetConfig } from '../kind.ts';

/** A PostgreSQL target with its credentials. `actUrl` null: it can be investigated but not changed. */
export interface PostgresConfig extends TargetConfig {
  readonly readUrl: string;
  readonly actUrl: string | null;
}

// Whoever writes the URL itself here must not read it again in the error.
const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable that holds the URL');

/** The fields of a PostgreSQL target in `sentry.yaml`, besides those of every target. */
export const postgresFields = {
  /** So that no credential stands in the file. */
  read_url_env: variable.meta({
    description:
      'the environment variable with the URL that it is read by (postgres://user:password@host:5432/db)',
    example: 'ORDERS_READ_URL',
  }),
  act_url_env: variable.optional().meta({
    description: 'the same for approved changes, with a role of its own',
    example: 'ORDERS_ACT_URL',
    without: 'it is investigated, never changed',
  }),
} as const;

/** From its entry in `sentry.yaml`; what is wrong with the variables that it names, never with what they hold. */
export function readPostgres(
  { read_url_env: read, act_url_env: act, ...target }: EntryOf<typeof postgresFields>,
  env: Readonly<Record<string, string | undefined>>,
): PostgresConfig | readonly string[] {
  const problems = [
    ...problemOf('read_url_env', read, env[read]),
    ...(act ? problemOf('act_url_env', act, env[act]) : []),
  ];
  if (problems.length > 0) return problems;
  return {
    ...target,
    readUrl: env[read] ?? '',
    actUrl: act ? (env[act] ?? null) : null,
  };
}

function problemOf(field: string, name: string, url: string | undefined): readonly string[] {
  if (!url) return [`${name} is not set, and ${field} names it`];
  return URL.canParse(url)
    ? []
    : [`${name}, which ${field} names, holds no URL (postgres://user:password@host/db)`];
}

/** The database role that a target is read with, by its URL's user; null where there is none. */
export function readingRole({ readUrl }: PostgresConfig): string | null {
  return decodeURIComponent(new URL(readUrl).username) || null;
}
