import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt, numberAt } from '../../../core/measure.ts';
import { age, bytes, more, percent, table } from '../../format.ts';
import type { PostgresSession } from '../system.ts';
import { output, postgresReadTool, rowsAsJson } from './postgres-read-tool.ts';
import { exclusivelyLocked, sizeWithoutWaiting, userSchemas } from './relation-size.ts';
import { exactTime, secondsSince } from './session-columns.ts';

/**
 * Dead rows and vacuum, the worst table first. Data: `{ table_count, over_threshold_count, autovacuum_disabled_count,
 * worst: row|null, complete, tables: [{ schema, table, live_rows, dead_rows, dead_percent, changed_since_analyze, table_bytes,
 * dead_bytes_estimate, bloat_bytes_estimate, vacuum_threshold, over_threshold, autovacuum_enabled, options, last_vacuum,
 * last_autovacuum, last_analyze, last_autoanalyze, seconds_since_vacuum, vacuuming }],
 * autovacuum: { enabled, switched_off, max_workers, running_workers, naptime_seconds, threshold, scale_factor, cost_delay_ms } }`.
 * `autovacuum.enabled` is whether it works at all; `switched_off`, that its own setting says so.
 * `bloat_bytes_estimate` compares the size with the average row width and is null where the role may not see that
 * (SELECT on the table); rows are PostgreSQL's estimates, and `dead_percent` is null where it has none (its statistics
 * were lost). `complete` false: there may be more tables than `limit`.
 */
export const postgresTableHealth = postgresReadTool({
  name: 'postgres_table_health',
  description:
    'Dead rows, size, bloat estimate (bytes), last (auto)vacuum and (auto)analyze and autovacuum settings per table, worst first, and whether the autovacuum threshold is passed. For bloat, autovacuum that is behind or switched off, and slow scans of small tables.',
  measures: [
    measureAt('worst.dead_percent', {
      name: 'dead_rows_percent',
      label: 'dead rows of the worst table shown',
      well: '{bound} of the worst table’s rows are dead',
      unit: '%',
      healthy: 'at_most',
      bound: 10,
    }),
    measureAt('over_threshold_count', {
      name: 'tables_past_vacuum_threshold',
      label: 'tables past their vacuum threshold',
      well: '{bound} are past their vacuum threshold',
      unit: 'tables',
      healthy: 'at_most',
      bound: 0,
      isPartial: (data) => numberAt(data, 'complete') !== 1,
    }),
  ],
  input: z.strictObject({
    schema: z.string().min(1).max(63).optional(),
    table: z.string().min(1).max(63).optional(),
    limit: z.number().int().min(1).max(100).default(15),
  }),
  timeoutMs: 15_000,
  async read(session, { schema, table: name, limit }) {
    const tables = rowsAsJson(await session.query(tablesSql, [schema ?? null, name ?? null, limit]));
    const autovacuum = await readAutovacuum(session);
    const [totals] = await session.query(totalsSql);
    const data = {
      table_count: Number(totals?.['tables'] ?? 0),
      over_threshold_count: tables.filter((row) => row['over_threshold'] === true).length,
      autovacuum_disabled_count: tables.filter((row) => row['autovacuum_enabled'] === false).length,
      worst: tables[0] ?? null,
      complete: tables.length < limit,
      tables,
      autovacuum,
    };
    return output(
      [
        `${count(tables.length, 'table')} shown of ${data.table_count}; ${data.complete ? '' : 'of those shown, '}${data.over_threshold_count} past their autovacuum threshold, ${data.autovacuum_disabled_count} with autovacuum switched off.`,
        `autovacuum: ${autovacuum.enabled ? 'on' : 'OFF for the whole server'}, ${autovacuum.running_workers} of ${autovacuum.max_workers} workers run, every ${autovacuum.naptime_seconds}s, threshold ${autovacuum.threshold} + ${autovacuum.scale_factor} × rows.`,
        ...table(
          [
            'table',
            'live rows',
            'dead rows',
            'dead',
            'size',
            'bloat estimate',
            'since vacuum',
            'last autovacuum',
            'autovacuum',
          ],
          tables.map((row) => [
            `${row['schema']}.${row['table']}`,
            row['live_rows'],
            `${row['dead_rows']}${row['over_threshold'] === true ? ' (over threshold)' : ''}`,
            percent(row['dead_percent']),
            bytes(row['table_bytes']),
            bytes(row['bloat_bytes_estimate'] ?? row['dead_bytes_estimate']),
            row['seconds_since_vacuum'] === null ? 'never vacuumed' : age(row['seconds_since_vacuum']),
            row['last_autovacuum'] ?? 'never',
            `${row['autovacuum_enabled'] === true ? 'on' : 'OFF'}${row['vacuuming'] === true ? ', vacuum running' : ''}`,
          ]),
        ),
        ...more(name === undefined && schema === undefined ? data.table_count : tables.length, tables.length),
      ],
      data,
    );
  },
});

/** A table's own storage parameter, else the server's setting. */
const option = (name: string): string =>
  `coalesce((SELECT o.option_value FROM pg_options_to_table(c.reloptions) o WHERE o.option_name = '${name}'), current_setting('${name}'))::float8`;

const tablesSql = `
  WITH ${exclusivelyLocked},
  candidates AS (
    SELECT c.oid, n.nspname::text AS schema, c.relname::text AS "table", s.n_live_tup AS live_rows, s.n_dead_tup AS dead_rows,
           s.n_mod_since_analyze AS changed_since_analyze, c.reloptions,
           ${sizeWithoutWaiting('pg_relation_size')} AS table_bytes,
           round(${option('autovacuum_vacuum_threshold')} + ${option('autovacuum_vacuum_scale_factor')} * greatest(c.reltuples, 0))::bigint AS vacuum_threshold,
           coalesce((SELECT o.option_value::boolean FROM pg_options_to_table(c.reloptions) o WHERE o.option_name = 'autovacuum_enabled'), true)
             AS autovacuum_enabled,
           ${exactTime('s.last_vacuum')} AS last_vacuum, ${exactTime('s.last_autovacuum')} AS last_autovacuum,
           ${exactTime('s.last_analyze')} AS last_analyze, ${exactTime('s.last_autoanalyze')} AS last_autoanalyze,
           ${secondsSince('greatest(s.last_vacuum, s.last_autovacuum)')} AS seconds_since_vacuum,
           EXISTS (SELECT FROM pg_stat_progress_vacuum p WHERE p.relid = c.oid AND p.datid = (SELECT oid FROM pg_database WHERE datname = current_database())) AS vacuuming
      FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE ${userSchemas} AND c.relkind IN ('r', 'm')
       AND ($1::text IS NULL OR n.nspname = $1::text) AND ($2::text IS NULL OR c.relname = $2::text)
     ORDER BY s.n_dead_tup DESC, c.relpages DESC LIMIT $3::int)
  SELECT schema, "table", live_rows, dead_rows,
         CASE WHEN live_rows + dead_rows > 0 THEN round(100.0 * dead_rows / (live_rows + dead_rows), 1)
              WHEN table_bytes = 0 THEN 0 END AS dead_percent,
         changed_since_analyze, table_bytes,
         CASE WHEN live_rows + dead_rows > 0 THEN (table_bytes::numeric * dead_rows / (live_rows + dead_rows))::bigint ELSE 0 END AS dead_bytes_estimate,
         greatest(0, table_bytes - ceil(live_rows * (w.width + 28) / 0.9))::bigint AS bloat_bytes_estimate,
         vacuum_threshold, dead_rows > vacuum_threshold AS over_threshold, autovacuum_enabled,
         coalesce(array_to_string(reloptions, ', '), '') AS options,
         last_vacuum, last_autovacuum, last_analyze, last_autoanalyze, seconds_since_vacuum, vacuuming
    FROM candidates c
    LEFT JOIN LATERAL (SELECT sum((1 - p.null_frac) * p.avg_width) AS width FROM pg_stats p
                        WHERE p.schemaname = c.schema AND p.tablename = c."table" HAVING count(*) > 0) w ON true
   ORDER BY dead_rows DESC, table_bytes DESC`;

const totalsSql = `
  SELECT count(*)::int AS tables FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE ${userSchemas} AND c.relkind IN ('r', 'm')`;

async function readAutovacuum(session: PostgresSession): Promise<{
  readonly enabled: boolean;
  readonly switched_off: boolean;
  readonly max_workers: number;
  readonly running_workers: number;
  readonly naptime_seconds: number;
  readonly threshold: number;
  readonly scale_factor: number;
  readonly cost_delay_ms: number;
}> {
  const rows = await session.query(
    `SELECT name, setting FROM pg_settings WHERE name LIKE 'autovacuum%' OR name = 'track_counts'`,
  );
  const setting = new Map(rows.map((row) => [String(row['name']), String(row['setting'])]));
  const [running] = await session.query(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'`,
  );
  const number = (name: string): number => Number(setting.get(name));
  return {
    enabled: setting.get('autovacuum') === 'on' && setting.get('track_counts') === 'on',
    switched_off: setting.get('autovacuum') === 'off',
    max_workers: number('autovacuum_max_workers'),
    running_workers: Number(running?.['n']),
    naptime_seconds: number('autovacuum_naptime'),
    threshold: number('autovacuum_vacuum_threshold'),
    scale_factor: number('autovacuum_vacuum_scale_factor'),
    cost_delay_ms: number('autovacuum_vacuum_cost_delay'),
  };
}
