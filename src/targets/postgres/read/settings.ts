import { z } from 'zod';
import type { Json } from '../../../core/tool-call.ts';
import { output, postgresReadTool, rowsAsJson } from './postgres-read-tool.ts';

/** Values that are or hold secrets, or commands and connection strings in which people put them. */
const secret =
  /passw|passphrase|secret|private|token|credential|conninfo|_command$|_key($|_)|keyfile|_dsn$|_url$/i;
/** Extensions' settings may hold anything; these are known not to. */
const knownExtensions = /^(auto_explain|pg_stat_statements|pg_prewarm|plpgsql)\./;

/**
 * Settings by name, as a new session of Sentry's role gets them (Sentry's own sessions have shorter timeouts). Data:
 * `{ settings: { <name>: { setting, number, unit, source, context, default_setting, pending_restart } }, missing: string[], hidden: string[],
 * pending_restart_count }`. `setting` is text in `unit`; `number` the same as a number, or null. A name that is not there
 * is in `missing`; one that may hold a secret is in `hidden`, without its value.
 */
export const postgresSettings = postgresReadTool({
  name: 'postgres_settings',
  description:
    'Server settings by name (1 to 30): value with unit, where it comes from, its default, and whether a restart is pending. Secrets and commands are never shown.',
  input: z.strictObject({
    names: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_.]{0,62}$/, 'a setting name such as max_connections'))
      .min(1)
      .max(30),
  }),
  async read(session, { names }) {
    const wanted = [...new Set(names.map((name) => name.toLowerCase()))];
    const hidden = wanted.filter(isHidden);
    // What Sentry's connection set for itself has the source "session"; its reset_val is what everybody else gets.
    const rows = rowsAsJson(
      await session.query(
        `SELECT lower(name) AS name, CASE WHEN source = 'session' THEN reset_val ELSE setting END AS setting, unit,
                CASE WHEN source = 'session' THEN 'server' ELSE source END AS source, context, boot_val AS default_setting, pending_restart
           FROM pg_settings WHERE lower(name) = ANY (string_to_array($1::text, ','))`,
        [wanted.filter((name) => !isHidden(name)).join(',')],
      ),
    );
    const settings: Record<string, Json> = {};
    const lines: string[] = [];
    for (const { name, ...row } of rows) {
      const value = String(row['setting']);
      const number = /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : null;
      settings[String(name)] = { ...row, number };
      const unit = row['unit'] === null ? '' : ` × ${row['unit']}`;
      const changed =
        row['setting'] === row['default_setting']
          ? 'default'
          : `default ${row['default_setting']}, from ${row['source']}`;
      lines.push(
        `${name} = ${value}${unit} (${changed}${row['pending_restart'] === true ? ', RESTART PENDING' : ''})`,
      );
    }
    const missing = wanted.filter((name) => !(name in settings) && !hidden.includes(name));
    if (missing.length > 0)
      lines.push(
        `not known to this server, or not visible without pg_read_all_settings: ${missing.join(', ')}`,
      );
    if (hidden.length > 0) lines.push(`never shown, may hold secrets: ${hidden.join(', ')}`);
    const pending = rows.filter((row) => row['pending_restart'] === true).length;
    return output(lines, { settings, missing, hidden, pending_restart_count: pending });
  },
});

/** A condition of SQL that says the same of a setting's name. */
export const isHiddenSql = (name: string): string =>
  `(${name} ~* '${secret.source}' OR strpos(${name}, '.') > 0 AND ${name} !~* '${knownExtensions.source}')`;

function isHidden(name: string): boolean {
  return secret.test(name) || (name.includes('.') && !knownExtensions.test(name));
}
