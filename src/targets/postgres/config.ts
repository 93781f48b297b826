import { z } from 'zod';
import type { EntryOf, TargetConfig } from '../kind.ts';

/** A PostgreSQL target with its credentials. `actUrl` null: it can be investigated but not changed. */
export interface PostgresConfig extends TargetConfig {
  readonly readUrl: string;
  readonly actUrl: string | null;
}

/** The fields of a PostgreSQL target in `sentry.yaml`, besides those of every target. */
export const postgresFields = {
  /** Names of environment variables, so that no credential stands in the file. */
  read_url_env: z.string().min(1),
  act_url_env: z.string().min(1).optional(),
} as const;

/** From its entry in `sentry.yaml`; the variables that it names and that are not set. */
export function readPostgres(
  { read_url_env: read, act_url_env: act, ...target }: EntryOf<typeof postgresFields>,
  env: Readonly<Record<string, string | undefined>>,
): PostgresConfig | readonly string[] {
  const readUrl = env[read];
  if (!readUrl) return [`${read} is not set, and read_url_env names it`];
  const actUrl = act ? env[act] : undefined;
  if (act && !actUrl) return [`${act} is not set, and act_url_env names it`];
  return { ...target, domain: 'postgres', readUrl, actUrl: actUrl ?? null };
}

/** The database role that a target is read with, by its URL's user; null where there is none. */
export function readingRole({ readUrl }: PostgresConfig): string | null {
  return URL.canParse(readUrl) ? decodeURIComponent(new URL(readUrl).username) || null : null;
}
