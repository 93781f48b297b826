import type { Sql } from '../../core/sql.ts';
import { QUEUE, TURNS_AT_ONCE } from './enqueue-function.ts';

/** How the engine gets on with the turns that are due. Times are in ms, by the database's clock. */
export interface TurnQueue {
  /** The age of the oldest turn that is due and that no turn of the same incident holds up; 0: none waits. */
  readonly oldestWaitMs: number;
  /** For how long no turn has begun although one was due and there was room for it. */
  readonly stalledMs: number;
  readonly waiting: number;
  readonly running: number;
  /** Since the last heartbeat of this process; null: it has none. */
  readonly beatMs: number | null;
}

export async function readTurnQueue(sql: Sql, executorId: string): Promise<TurnQueue> {
  const [row] = await sql<{
    readonly wait: number;
    readonly begun: number | null;
    readonly waiting: number;
    readonly running: number;
    readonly processes: number;
    readonly beat: number | null;
  }>`
    WITH now AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms),
    due AS (
      SELECT greatest(w.created_at, coalesce(w.delay_until_epoch_ms, 0)) AS since
      FROM dbos.workflow_status w, now
      WHERE w.queue_name = ${QUEUE}
        AND (w.status = 'ENQUEUED' OR (w.status = 'DELAYED' AND w.delay_until_epoch_ms <= now.ms))
        AND NOT EXISTS (SELECT FROM dbos.workflow_status p WHERE p.queue_name = ${QUEUE} AND p.status = 'PENDING'
                        AND p.queue_partition_key = w.queue_partition_key)
    )
    SELECT coalesce((SELECT now.ms - min(since) FROM due), 0)::float8 AS wait,
           (SELECT now.ms - started_at_epoch_ms FROM dbos.workflow_status WHERE started_at_epoch_ms <= now.ms
            ORDER BY started_at_epoch_ms DESC LIMIT 1)::float8 AS begun,
           (SELECT count(*) FROM due)::int AS waiting,
           (SELECT count(*) FROM dbos.workflow_status WHERE queue_name = ${QUEUE} AND status = 'PENDING')::int AS running,
           (SELECT greatest(count(*), 1) FROM process)::int AS processes,
           (SELECT extract(epoch FROM clock_timestamp() - beat_at) * 1000 FROM process
            WHERE executor_id = ${executorId})::float8 AS beat
    FROM now`;
  if (!row) throw new Error('the engine did not answer');
  const oldestWaitMs = Math.max(0, row.wait);
  const isFull = row.running >= TURNS_AT_ONCE * row.processes;
  return {
    oldestWaitMs,
    stalledMs: isFull ? 0 : Math.min(oldestWaitMs, row.begun ?? oldestWaitMs),
    waiting: row.waiting,
    running: row.running,
    beatMs: row.beat === null ? null : Math.max(0, row.beat),
  };
}
