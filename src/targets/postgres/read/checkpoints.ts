import { z } from 'zod';
import { OpsError } from '../../../core/errors.ts';
import { measureAt } from '../../../core/measure.ts';
import { bytes, percent } from '../../format.ts';
import type { PostgresSession, Row } from '../system.ts';
import { output, postgresReadTool, serverVersion } from './postgres-read-tool.ts';

/**
 * Checkpoints, WAL and its archiving. Data: `{ timed, requested, requested_percent, write_seconds, sync_seconds,
 * buffers_written, checkpoint_timeout_seconds, max_wal_bytes, stats_reset, wal_written_bytes, wal_full_page_images,
 * wal_buffers_full, wal_dir_bytes, wal_dir_files, archive_mode, archived_count, archive_failed_count, last_archived_wal,
 * last_failed_wal, archive_failing, archive_ready_files }`. Counts since `stats_reset`; null where this version or role does not tell.
 * `requested` checkpoints come from max_wal_size being reached (or by hand), `timed` from checkpoint_timeout.
 */
export const postgresCheckpoints = postgresReadTool({
  name: 'postgres_checkpoints',
  description:
    'Checkpoints (timed, requested, write and sync seconds), WAL written, size of the pg_wal folder in bytes, and whether WAL archiving fails. For WAL that fills the disk, and I/O peaks at checkpoints.',
  measures: [
    measureAt('archive_failing', {
      name: 'archive_failing',
      label: 'archiving of the WAL fails',
      well: 'archiving of the WAL does not fail',
      unwell: { is: 'archiving of the WAL fails', was: 'archiving of the WAL failed' },
      unit: '',
      healthy: 'at_most',
      bound: 0,
    }),
  ],
  input: z.strictObject({}),
  counters: [
    'timed',
    'requested',
    'write_seconds',
    'sync_seconds',
    'buffers_written',
    'wal_written_bytes',
    'wal_full_page_images',
    'wal_buffers_full',
    'archived_count',
    'archive_failed_count',
  ],
  async read(session) {
    const version = await serverVersion(session);
    const [counts = {}] = await session.query(version >= 170_000 ? checkpointerSql : bgwriterSql);
    const [wal = {}] =
      version >= 140_000
        ? await session.query('SELECT wal_fpi, wal_bytes, wal_buffers_full FROM pg_stat_wal')
        : [];
    const [archiver = {}] = await session.query(archiverSql);
    const folder = await walFolder(session);
    const [timed, requested] = [Number(counts['timed']), Number(counts['requested'])];
    const data = {
      timed,
      requested,
      requested_percent:
        timed + requested > 0 ? Math.round((1_000 * requested) / (timed + requested)) / 10 : 0,
      write_seconds: number(counts, 'write_seconds'),
      sync_seconds: number(counts, 'sync_seconds'),
      buffers_written: number(counts, 'buffers_written'),
      checkpoint_timeout_seconds: number(archiver, 'checkpoint_timeout'),
      max_wal_bytes: number(archiver, 'max_wal_bytes'),
      stats_reset: (counts['stats_reset'] ?? null) as string | null,
      wal_written_bytes: number(wal, 'wal_bytes'),
      wal_full_page_images: number(wal, 'wal_fpi'),
      wal_buffers_full: number(wal, 'wal_buffers_full'),
      ...folder.data,
      archive_mode: String(archiver['archive_mode']),
      archived_count: number(archiver, 'archived_count'),
      archive_failed_count: number(archiver, 'failed_count'),
      last_archived_wal: (archiver['last_archived_wal'] ?? null) as string | null,
      last_failed_wal: (archiver['last_failed_wal'] ?? null) as string | null,
      archive_failing: archiver['failing'] === true,
    };
    return output(
      [
        `Checkpoints since ${data.stats_reset ?? 'start'}: ${timed} timed, ${requested} requested (${percent(data.requested_percent)}); writing ${data.write_seconds}s, syncing ${data.sync_seconds}s; checkpoint_timeout ${data.checkpoint_timeout_seconds}s, max_wal_size ${bytes(data.max_wal_bytes)}.`,
        `WAL written ${bytes(data.wal_written_bytes)}, full-page images ${data.wal_full_page_images ?? '–'}; pg_wal folder ${bytes(data.wal_dir_bytes)} in ${data.wal_dir_files ?? '–'} files.`,
        `Archiving ${data.archive_mode}: ${data.archived_count} archived, ${data.archive_failed_count} failed${data.archive_failing ? `, FAILING at ${data.last_failed_wal}: WAL is kept until it succeeds` : ''}; ${data.archive_ready_files ?? '–'} files wait for it.`,
        ...folder.notes,
      ],
      data,
    );
  },
});

const checkpointerSql = `
  SELECT num_timed AS timed, num_requested AS requested, round(write_time::numeric / 1000, 1) AS write_seconds,
         round(sync_time::numeric / 1000, 1) AS sync_seconds, buffers_written, stats_reset::text
    FROM pg_stat_checkpointer`;

/** Before PostgreSQL 17. */
const bgwriterSql = `
  SELECT checkpoints_timed AS timed, checkpoints_req AS requested, round(checkpoint_write_time::numeric / 1000, 1) AS write_seconds,
         round(checkpoint_sync_time::numeric / 1000, 1) AS sync_seconds, buffers_checkpoint AS buffers_written, stats_reset::text
    FROM pg_stat_bgwriter`;

const archiverSql = `
  SELECT archived_count, failed_count, last_archived_wal, last_failed_wal,
         last_failed_time IS NOT NULL AND (last_archived_time IS NULL OR last_failed_time > last_archived_time) AS failing,
         current_setting('archive_mode') AS archive_mode,
         (SELECT setting::int FROM pg_settings WHERE name = 'checkpoint_timeout') AS checkpoint_timeout,
         (SELECT setting::bigint * 1024 * 1024 FROM pg_settings WHERE name = 'max_wal_size') AS max_wal_bytes
    FROM pg_stat_archiver`;

interface WalFolder {
  readonly data: {
    readonly wal_dir_bytes: number | null;
    readonly wal_dir_files: number | null;
    readonly archive_ready_files: number | null;
  };
  readonly notes: readonly string[];
}

/** pg_monitor may list these folders; without it the rest of the tool still answers. */
export async function walFolder(session: PostgresSession): Promise<WalFolder> {
  try {
    const [row] = await session.query(`
      SELECT (SELECT sum(size)::bigint FROM pg_ls_waldir()) AS bytes, (SELECT count(*)::int FROM pg_ls_waldir()) AS files,
             (SELECT count(*)::int FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready') AS ready`);
    const data = {
      wal_dir_bytes: Number(row?.['bytes']),
      wal_dir_files: Number(row?.['files']),
      archive_ready_files: Number(row?.['ready']),
    };
    return { data, notes: [] };
  } catch (error) {
    if (!(error instanceof OpsError) || error.code !== 'POSTGRES_42501') throw error;
    return {
      data: { wal_dir_bytes: null, wal_dir_files: null, archive_ready_files: null },
      notes: ['The pg_wal folder could not be listed: GRANT pg_monitor TO <role>.'],
    };
  }
}

function number(row: Row, name: string): number | null {
  const value = row[name];
  return value === null || value === undefined ? null : Number(value);
}
