import type { PostgresSession } from '../../ports.ts';

/** The name by which pg_stat_statements can be read here, quoted; null when the extension is not in this database or not loaded. */
export async function statementStatistics(session: PostgresSession): Promise<string | null> {
  const [row] = await session.query(`
    SELECT quote_ident(n.nspname) || '.pg_stat_statements' AS view
      FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'pg_stat_statements'
       AND EXISTS (SELECT FROM pg_settings WHERE name = 'pg_stat_statements.max')`);
  return row === undefined ? null : String(row['view']);
}

/** What the operator does to have it. */
export const howToEnableStatistics =
  "pg_stat_statements is not available here. Enable it: shared_preload_libraries = 'pg_stat_statements' (restart), then CREATE EXTENSION pg_stat_statements; in this database.";
