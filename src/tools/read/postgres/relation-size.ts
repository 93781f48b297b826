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
