import type { TransactionSql } from 'postgres';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { withConnection } from './with-connection.ts';

/** What the bot works as; it owns nothing, and may neither change nor empty the audit log, nor switch its triggers off. */
export const WRITER_ROLE = 'sentry_writer';
const AUDIT_TABLES = ['audit_entry', 'audit_head'];
const SCHEMAS = ['public', 'dbos'];

/**
 * Makes the role where this user may, and gives it what the migrations have made; run after them, by their owner, `alone`. Returns
 * its name, or null where it cannot be: then the owner's own rights stay, and only the triggers guard the audit log.
 */
export async function grantWriterRole(url: string, log: Log): Promise<string | null> {
  try {
    await withConnection(url, (sql) =>
      sql.begin(async (tx) => {
        const [role] = await tx`SELECT 1 FROM pg_roles WHERE rolname = ${WRITER_ROLE}`;
        if (!role) await tx`CREATE ROLE ${tx(WRITER_ROLE)} NOLOGIN`;
        if (!(await isGranted(tx))) await grant(tx);
      }),
    );
    // As the connections will do it: a pooler in between may take no role. It rejects here rather than there.
    await withConnection(url, (sql) => sql`SELECT seq FROM audit_head`, { role: WRITER_ROLE });
    return WRITER_ROLE;
  } catch (error) {
    log.info(
      { error: messageOf(error) },
      `the database user cannot work as ${WRITER_ROLE}: the audit log is guarded by its triggers only`,
    );
    return null;
  }
}

async function isGranted(tx: TransactionSql): Promise<boolean> {
  const [row] = await tx`
    SELECT bool_and(CASE WHEN c.relname = ANY (${AUDIT_TABLES}) AND n.nspname = 'public'
                         THEN has_table_privilege(${WRITER_ROLE}, c.oid, 'SELECT')
                              AND NOT has_table_privilege(${WRITER_ROLE}, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                         WHEN c.relkind = 'S' THEN has_sequence_privilege(${WRITER_ROLE}, c.oid, 'USAGE')
                         ELSE has_table_privilege(${WRITER_ROLE}, c.oid, 'INSERT')
                              AND has_table_privilege(${WRITER_ROLE}, c.oid, 'DELETE') END) AS granted,
           bool_and(has_schema_privilege(${WRITER_ROLE}, n.oid, 'USAGE')) AS schemas
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY (${SCHEMAS}) AND c.relkind IN ('r', 'p', 'v', 'S')`;
  return row?.['granted'] === true && row['schemas'] === true;
}

async function grant(tx: TransactionSql): Promise<void> {
  const role = tx(WRITER_ROLE);
  const [user] = await tx`SELECT rolsuper FROM pg_roles WHERE rolname = current_user`;
  // Whoever makes a role may give it, and from PostgreSQL 16 on has to before becoming it.
  if (user?.['rolsuper'] !== true) await tx`GRANT ${role} TO CURRENT_USER`;
  for (const name of SCHEMAS) {
    const schema = tx(name);
    await tx`GRANT USAGE ON SCHEMA ${schema} TO ${role}`;
    await tx`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`;
    await tx`GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`;
    await tx`GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${role}`;
  }
  for (const table of AUDIT_TABLES)
    await tx`REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON TABLE ${tx(table)} FROM ${role}`;
  // By the owner of the tables, whoever calls it.
  await tx`GRANT EXECUTE ON FUNCTION audit_append(text[]) TO ${role}`;
}
