import { z } from 'zod';
import { bytes, more, table } from '../../format.ts';
import { walFolder } from './checkpoints.ts';
import { output, postgresReadTool, rowsAsJson } from './postgres-read-tool.ts';
import { exclusivelyLocked, sizeWithoutWaiting, userSchemas } from './relation-size.ts';

/**
 * What takes the disk. Data: `{ databases_bytes, databases: [{ database, bytes, temp_files, temp_bytes }],
 * tables: [{ schema, table, total_bytes, table_bytes, rows_estimate }], wal_dir_bytes, wal_dir_files, archive_ready_files }`, the
 * largest first; `bytes` null where the role may not look; `temp_…` since the statistics began; `tables` of the
 * connected database, `total_bytes` with indexes and TOAST.
 */
export const postgresSizes = postgresReadTool({
  name: 'postgres_sizes',
  description:
    'Sizes in bytes: databases, the largest tables of the connected database (with indexes), temporary files written, and the pg_wal folder. For disk-space alerts.',
  input: z.strictObject({ limit: z.number().int().min(1).max(50).default(15) }),
  timeoutMs: 20_000,
  counters: ['databases.*.temp_files', 'databases.*.temp_bytes'],
  async read(session, { limit }) {
    const databases = rowsAsJson(
      await session.query(`
        SELECT d.datname::text AS database,
               CASE WHEN has_database_privilege(d.oid, 'CONNECT') OR pg_has_role('pg_read_all_stats', 'USAGE')
                    THEN pg_database_size(d.oid) END AS bytes,
               coalesce(s.temp_files, 0) AS temp_files, coalesce(s.temp_bytes, 0) AS temp_bytes
          FROM pg_database d LEFT JOIN pg_stat_database s ON s.datid = d.oid ORDER BY bytes DESC NULLS LAST LIMIT 50`),
    );
    const tables = rowsAsJson(
      await session.query(
        `WITH ${exclusivelyLocked}
         SELECT n.nspname::text AS schema, c.relname::text AS "table", ${sizeWithoutWaiting('pg_total_relation_size')} AS total_bytes,
                ${sizeWithoutWaiting('pg_table_size')} AS table_bytes, greatest(c.reltuples, 0)::bigint AS rows_estimate
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.relkind IN ('r', 'm') AND ${userSchemas} ORDER BY total_bytes DESC LIMIT $1::int`,
        [limit],
      ),
    );
    const wal = await walFolder(session);
    const data = {
      databases_bytes: databases.reduce((sum, row) => sum + Number(row['bytes'] ?? 0), 0),
      databases,
      tables,
      ...wal.data,
    };
    return output(
      [
        `Databases ${bytes(data.databases_bytes)}; pg_wal ${bytes(data.wal_dir_bytes)} in ${data.wal_dir_files ?? '–'} files.`,
        ...table(
          ['database', 'size', 'temp files', 'temp written'],
          databases
            .slice(0, 10)
            .map((row) => [
              row['database'],
              bytes(row['bytes']),
              row['temp_files'],
              bytes(row['temp_bytes']),
            ]),
        ),
        ...more(databases.length, 10),
        ...table(
          ['table', 'total', 'without indexes', 'rows'],
          tables.map((row) => [
            `${row['schema']}.${row['table']}`,
            bytes(row['total_bytes']),
            bytes(row['table_bytes']),
            row['rows_estimate'],
          ]),
        ),
        ...wal.notes,
      ],
      data,
    );
  },
});
