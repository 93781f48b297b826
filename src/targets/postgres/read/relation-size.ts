/**
 * Size functions take a lock on the table and would hang behind an exclusive one, just when somebody investigates it.
 * For such tables the planner's page count is used: `c` is pg_class; `fn` the size function.
 */
export function sizeWithoutWaiting(
  fn: 'pg_relation_size' | 'pg_table_size' | 'pg_total_relation_size',
): string {
  return `CASE WHEN c.oid IN (SELECT relation FROM exclusively_locked)
               THEN c.relpages::bigint * current_setting('block_size')::int
               ELSE ${fn}(c.oid) END`;
}

/** The common table expression that `sizeWithoutWaiting` needs. */
export const exclusivelyLocked = `exclusively_locked AS MATERIALIZED (
  SELECT relation FROM pg_locks
   WHERE locktype = 'relation' AND mode = 'AccessExclusiveLock'
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

/** Schemas of PostgreSQL itself; `n` is pg_namespace. */
export const userSchemas = `n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'`;

/** A relation as people write it: without its schema where that is `public`. Null for an oid that is none of this database. */
export function relationName(oid: string): string {
  return `(SELECT CASE WHEN rn.nspname IN ('public', 'pg_catalog') THEN '' ELSE quote_ident(rn.nspname) || '.' END || quote_ident(rc.relname)
             FROM pg_class rc JOIN pg_namespace rn ON rn.oid = rc.relnamespace WHERE rc.oid = ${oid})`;
}
