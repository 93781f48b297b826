import { postgresUrlFault } from '../../core/postgres-url.ts';
import { readSecret, secretFile, secretVariable } from '../../safety/named-secret.ts';
import type { EntryOf, TargetConfig } from '../kind.ts';

/** A PostgreSQL target with its credentials. `actUrl` null: it can be investigated but not changed. */
export interface PostgresConfig extends TargetConfig {
  readonly readUrl: string;
  readonly actUrl: string | null;
}

/** The fields of a PostgreSQL target in `sentry.yaml`, besides those of every target. */
export const postgresFields = {
  read_url_env: secretVariable.optional().meta({
    description:
      'the environment variable with the URL that it is read by (postgres://user:password@host:5432/db)',
    example: 'ORDERS_READ_URL',
  }),
  read_url_file: secretFile
    .optional()
    .meta({ description: 'or the file that holds this URL', example: '/run/secrets/orders-read-url' }),
  act_url_env: secretVariable.optional().meta({
    description: 'the same for approved changes, with a role of its own',
    example: 'ORDERS_ACT_URL',
    without: 'it is investigated, never changed',
  }),
  act_url_file: secretFile
    .optional()
    .meta({ description: 'or the file that holds it', example: '/run/secrets/orders-act-url' }),
} as const;

/** From its entry in `sentry.yaml`; what is wrong with the variables and files that it names, never with what they hold. */
export function readPostgres(
  { read_url_env, read_url_file, act_url_env, act_url_file, ...target }: EntryOf<typeof postgresFields>,
  env: Readonly<Record<string, string | undefined>>,
): PostgresConfig | readonly string[] {
  const read = readSecret('read_url', { read_url_env, read_url_file }, env, urlFault);
  const act = readSecret('act_url', { act_url_env, act_url_file }, env, urlFault);
  const problems = [...read.problems, ...act.problems];
  if (problems.length > 0) return problems;
  if (read.secret === null)
    return ['read_url_env: name the variable that holds its URL, or by read_url_file a file'];
  return { ...target, readUrl: read.secret, actUrl: act.secret };
}

const urlFault = (text: string): string | undefined => {
  const fault = postgresUrlFault(text);
  return fault === null ? undefined : `holds no URL that can be used: ${fault}`;
};

/** The database role that a target is read with, by its URL's user; null where there is none. */
export function readingRole({ readUrl }: PostgresConfig): string | null {
  return decodeURIComponent(new URL(readUrl).username) || null;
}
