import type { PostgresSession } from '../system.ts';

/** The extension's own view, not another of its name. The name by which pg_stat_statements can be read here, quoted; null when the extension is not in this database or not loaded. */
export async function statementStatistics(session: PostgresSession): Promise<string | null> {
  const [row] = await session.query(`
    SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS view
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid AND c.relname = 'pg_stat_statements'
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE e.extname = 'pg_stat_statements'
       AND EXISTS (SELECT FROM pg_settings WHERE name = 'pg_stat_statements.max')`);
  return row === undefined ? null : String(row['view']);
}

/** What the operator does to have it. */
export const howToEnableStatistics =
  "pg_stat_statements is not available here. Enable it: shared_preload_libraries = 'pg_stat_statements' (restart), then CREATE EXTENSION pg_stat_statements; in this database.";
