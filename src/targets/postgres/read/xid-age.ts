import { z } from 'zod';
import { measureAt } from '../../../core/measure.ts';
import { age, bytes, percent, table } from '../../format.ts';
import { output, postgresReadTool, rowsAsJson } from './postgres-read-tool.ts';
import { exclusivelyLocked, sizeWithoutWaiting } from './relation-size.ts';
import { exactTime, hiddenLine, hiddenSessions, secondsSince } from './session-columns.ts';

/**
 * Distance to transaction-id wraparound. Data: `{ autovacuum_freeze_max_age, oldest_age, percent_to_autovacuum,
 * percent_to_wraparound, databases: [{ database, xid_age, mxid_age, percent_to_wraparound }],
 * tables: [{ schema, table, xid_age, percent_to_autovacuum, table_bytes, last_autovacuum }],
 * holders: [{ kind: session|slot|prepared, name, pid, backend_start, xmin_age, age_seconds, catalog_only }], hidden_count }`, the oldest first.
 * Ages in transactions; `tables` of the connected database; `holders` keep vacuum from freezing, `catalog_only` (a logical slot) in the
 * system catalogs alone. At 2^31 − 3,000,000
 * PostgreSQL takes no more writes (docs, "Preventing Transaction ID Wraparound Failures").
 */
export const postgresXidAge = postgresReadTool({
  name: 'postgres_xid_age',
  description:
    'Transaction-id age of databases and tables against autovacuum_freeze_max_age and the wraparound limit (percent), and what holds vacuum back: old transactions, replication slots, prepared transactions. For wraparound warnings.',
  measures: [
    measureAt('percent_to_autovacuum', {
      name: 'age_of_oldest_database',
      label: 'age of the oldest database, of autovacuum_freeze_max_age',
      well: 'the oldest database has used {bound} of autovacuum_freeze_max_age',
      unit: '%',
      healthy: 'at_most',
      bound: 100,
    }),
  ],
  input: z.strictObject({ limit: z.number().int().min(1).max(100).default(10) }),
  timeoutMs: 15_000,
  async read(session, { limit }) {
    const [setting] = await session.query(
      `SELECT current_setting('autovacuum_freeze_max_age')::bigint AS max_age`,
    );
    const maxAge = Number(setting?.['max_age']);
    const databases = rowsAsJson(
      await session.query(`
        SELECT datname::text AS database, age(datfrozenxid)::bigint AS xid_age, mxid_age(datminmxid)::bigint AS mxid_age,
               round(100.0 * age(datfrozenxid) / 2147483648, 2) AS percent_to_wraparound
          FROM pg_database ORDER BY xid_age DESC LIMIT 50`),
    );
    const tables = rowsAsJson(
      await session.query(
        `WITH ${exclusivelyLocked},
         oldest AS (
           SELECT c.*, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'm', 't') AND c.relfrozenxid <> 0 ORDER BY age(c.relfrozenxid) DESC LIMIT $1::int)
         SELECT c.nspname::text AS schema, c.relname::text AS "table", age(c.relfrozenxid)::bigint AS xid_age,
                round(100.0 * age(c.relfrozenxid) / current_setting('autovacuum_freeze_max_age')::numeric, 1) AS percent_to_autovacuum,
                ${sizeWithoutWaiting('pg_relation_size')} AS table_bytes,
                ${exactTime('s.last_autovacuum')} AS last_autovacuum
           FROM oldest c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid ORDER BY xid_age DESC`,
        [limit],
      ),
    );
    const holders = rowsAsJson(await session.query(holdersSql));
    const hidden = await hiddenSessions(session);
    const oldest = Number(databases[0]?.['xid_age'] ?? 0);
    const data = {
      autovacuum_freeze_max_age: maxAge,
      oldest_age: oldest,
      percent_to_autovacuum: Math.round((1_000 * oldest) / maxAge) / 10,
      percent_to_wraparound: Number(databases[0]?.['percent_to_wraparound'] ?? 0),
      databases,
      tables,
      holders,
      hidden_count: hidden,
    };
    return output(
      [
        `Oldest database: ${databases[0]?.['database']}, ${oldest} transactions old: ${percent(data.percent_to_wraparound)} of the wraparound limit, ${percent(data.percent_to_autovacuum)} of autovacuum_freeze_max_age (${maxAge}).`,
        ...table(
          ['database', 'age', 'of limit', 'multixact age'],
          databases
            .slice(0, 8)
            .map((row) => [
              row['database'],
              row['xid_age'],
              percent(row['percent_to_wraparound']),
              row['mxid_age'],
            ]),
        ),
        ...table(
          ['table', 'age', 'of freeze_max_age', 'size', 'last autovacuum'],
          tables.map((row) => [
            `${row['schema']}.${row['table']}`,
            row['xid_age'],
            percent(row['percent_to_autovacuum']),
            bytes(row['table_bytes']),
            row['last_autovacuum'] ?? 'never',
          ]),
        ),
        ...(holders.length === 0
          ? [hidden === 0 ? 'Nothing holds vacuum back.' : 'Nothing that can be seen holds vacuum back.']
          : ['what holds vacuum back, oldest first:']),
        ...table(
          ['kind', 'name', 'backend_start', 'holds back (transactions)', 'age'],
          holders.map((row) => [
            row['kind'],
            row['name'],
            row['backend_start'],
            row['xmin_age'],
            age(row['age_seconds']),
          ]),
        ),
        ...hiddenLine(hidden),
      ],
      data,
    );
  },
});

const holdersSql = `
  SELECT * FROM (
    SELECT 'session' AS kind, coalesce(nullif(a.application_name, ''), a.usename::text) || ' (pid ' || a.pid || ')' AS name, a.pid,
           ${exactTime('a.backend_start')} AS backend_start,
           greatest(age(a.backend_xmin), age(a.backend_xid))::bigint AS xmin_age, ${secondsSince('a.xact_start')} AS age_seconds, false AS catalog_only
      FROM pg_stat_activity a
     WHERE (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL) AND a.pid <> pg_backend_pid()
    UNION ALL
    SELECT 'slot', slot_name::text, active_pid, NULL, greatest(age(xmin), age(catalog_xmin))::bigint, NULL, xmin IS NULL
      FROM pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
    UNION ALL
    SELECT 'prepared', gid, NULL, NULL, age(transaction)::bigint, ${secondsSince('prepared')}, false FROM pg_prepared_xacts) held
   ORDER BY xmin_age DESC NULLS LAST LIMIT 10`;
