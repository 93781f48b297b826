import { z } from 'zod';
import { bytes, table } from '../../format.ts';
import { output, postgresReadTool, rowsAsJson } from './postgres-read-tool.ts';
import { exclusivelyLocked, sizeWithoutWaiting } from './relation-size.ts';

/**
 * How indexes are used in the connected database. Data: `{ invalid_count, unused_count, unused_bytes,
 * invalid: [{ schema, table, index }], unused: [{ schema, table, index, index_bytes, is_unique }],
 * sequential: [{ schema, table, live_rows, seq_scans, rows_per_scan, index_scans, table_bytes }], stats_reset }`.
 * `unused` never scanned since `stats_reset` and not needed for a constraint; `sequential` tables of 10,000 rows and
 * more, most rows read by sequential scans first.
 */
export const postgresIndexUse = postgresReadTool({
  name: 'postgres_index_use',
  description:
    'Tables read mostly by sequential scans (a missing index?), indexes never used, and invalid indexes left by a failed CREATE INDEX CONCURRENTLY. Sizes in bytes, counts since stats_reset.',
  input: z.strictObject({ limit: z.number().int().min(1).max(50).default(10) }),
  timeoutMs: 15_000,
  counters: ['sequential.*.seq_scans', 'sequential.*.index_scans'],
  async read(session, { limit }) {
    const invalid = rowsAsJson(
      await session.query(`
        SELECT n.nspname::text AS schema, t.relname::text AS "table", c.relname::text AS index
          FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
          JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT i.indisvalid ORDER BY 1, 2, 3 LIMIT 50`),
    );
    const unused = rowsAsJson(
      await session.query(`
        WITH ${exclusivelyLocked}
        SELECT s.schemaname::text AS schema, s.relname::text AS "table", s.indexrelname::text AS index,
               ${sizeWithoutWaiting('pg_relation_size')} AS index_bytes, i.indisunique AS is_unique
          FROM pg_stat_user_indexes s JOIN pg_index i ON i.indexrelid = s.indexrelid JOIN pg_class c ON c.oid = s.indexrelid
         WHERE s.idx_scan = 0 AND NOT i.indisprimary AND NOT i.indisunique
           AND s.relid NOT IN (SELECT relation FROM exclusively_locked)
           AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = s.indexrelid)
         ORDER BY index_bytes DESC LIMIT 200`),
    );
    const sequential = rowsAsJson(
      await session.query(
        `WITH ${exclusivelyLocked}
         SELECT s.schemaname::text AS schema, s.relname::text AS "table", s.n_live_tup AS live_rows, s.seq_scan AS seq_scans,
                CASE WHEN s.seq_scan > 0 THEN s.seq_tup_read / s.seq_scan ELSE 0 END AS rows_per_scan,
                coalesce(s.idx_scan, 0) AS index_scans, ${sizeWithoutWaiting('pg_relation_size')} AS table_bytes
           FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
          WHERE s.n_live_tup >= 10000 AND s.seq_scan > 0 ORDER BY s.seq_tup_read DESC LIMIT $1::int`,
        [limit],
      ),
    );
    const [since] = await session.query(
      `SELECT stats_reset::text AS reset FROM pg_stat_database WHERE datname = current_database()`,
    );
    const data = {
      invalid_count: invalid.length,
      unused_count: unused.length,
      unused_bytes: unused.reduce((sum, row) => sum + Number(row['index_bytes']), 0),
      invalid,
      unused: unused.slice(0, limit),
      sequential,
      stats_reset: (since?.['reset'] ?? null) as string | null,
    };
    return output(
      [
        `Invalid indexes: ${invalid.length}; never used: ${unused.length} (${bytes(data.unused_bytes)}), counted since ${data.stats_reset ?? 'the database was made'}.`,
        ...invalid.slice(0, 10).map((row) => `invalid: ${row['schema']}.${row['index']} on ${row['table']}`),
        ...table(
          ['sequentially read table', 'rows', 'seq scans', 'rows per scan', 'index scans', 'size'],
          sequential.map((row) => [
            `${row['schema']}.${row['table']}`,
            row['live_rows'],
            row['seq_scans'],
            row['rows_per_scan'],
            row['index_scans'],
            bytes(row['table_bytes']),
          ]),
        ),
        ...table(
          ['unused index', 'table', 'size'],
          data.unused.map((row) => [
            row['index'],
            `${row['schema']}.${row['table']}`,
            bytes(row['index_bytes']),
          ]),
        ),
      ],
      data,
    );
  },
});
