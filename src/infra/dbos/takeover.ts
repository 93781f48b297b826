import { DBOS } from '@dbos-inc/dbos-sdk';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { QUESTIONS_QUEUE, QUEUE } from './enqueue-function.ts';
import { pidSpace } from './pid-space.ts';
import { noteRunning } from './presence.ts';

const BEAT_MS = 1_000;
/** A process silent for this long counts as dead. A live one taken for dead would run a turn twice, so not less. */
const DEAD_AFTER_MS = 6_000;
/** How long finished turns are kept for looking at. */
const KEEP_FINISHED_DAYS = 7;
const CLEAN_EVERY_MS = 10 * 60_000;
const IDLE_EVERY_MS = 30_000;
const PRESENT_EVERY_MS = 30_000;

/**
 * The heartbeat of this process, and the sweeper that resumes the pending turns of dead ones: the open-source engine
 * recovers only its own. On the same host a vanished pid is dead at once, so that a restart after kill -9 does not wait.
 */
export function createTakeover(options: {
  readonly sql: Sql;
  readonly log: Log;
  readonly executorId: string;
}): {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** How many work on the record, this one included, as of the last heartbeat. */
  processes(): number;
} {
  const { sql, log, executorId } = options;
  const host = pidSpace();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let lastClean = Number.NEGATIVE_INFINITY;
  let lastIdle = Number.NEGATIVE_INFINITY;
  let lastPresent = Number.NEGATIVE_INFINITY;
  const silence = createSilence();
  let processes = 1;

  async function beat(): Promise<void> {
    const [row] = await sql<{ others: number }>`
      WITH beat AS (
        INSERT INTO process (executor_id, pid, host) VALUES (${executorId}, ${process.pid}, ${host})
        ON CONFLICT (executor_id) DO UPDATE SET beat_at = clock_timestamp())
      SELECT count(*)::int AS others FROM process
       WHERE executor_id <> ${executorId}
         AND beat_at > clock_timestamp() - ${DEAD_AFTER_MS} * interval '1 millisecond'`;
    processes = 1 + (row?.others ?? 0);
  }

  async function sweep(): Promise<void> {
    await sql.begin(async (tx) => {
      // One sweeper at a time: listing and resuming must not interleave with another's.
      const [lock] = await tx<{ got: boolean }>`
        SELECT pg_try_advisory_xact_lock(hashtextextended('sentry_takeover', 0)) AS got`;
      if (!lock?.got) return;
      const dead = await deadProcesses(tx);
      const orphans = await tx<{ id: string; queue: string }>`
        SELECT workflow_uuid AS id, queue_name AS queue FROM dbos.workflow_status
        WHERE status = 'PENDING' AND queue_name IN (${QUEUE}, ${QUESTIONS_QUEUE}) AND executor_id <> ${executorId}
          AND NOT EXISTS (SELECT FROM process p WHERE p.executor_id = workflow_status.executor_id
                          AND p.executor_id <> ALL (${tx.array(dead)}::text[]))`;
      if (orphans.length > 0) {
        for (const queueName of [QUEUE, QUESTIONS_QUEUE]) {
          const ids = orphans.filter(({ queue }) => queue === queueName).map(({ id }) => id);
          if (ids.length > 0) await DBOS.resumeWorkflows(ids, { queueName });
        }
        log.info({ turns: orphans.length, dead }, 'took over the turns of a dead process');
      }
      if (dead.length > 0) await tx`DELETE FROM process WHERE executor_id = ANY (${tx.array(dead)}::text[])`;
    });
  }

  async function deadProcesses(tx: Tx): Promise<string[]> {
    const others = await tx<Beat & { pid: number; host: string }>`
      SELECT executor_id, pid, host, beat_at::text AS beat,
             (extract(epoch FROM clock_timestamp() - beat_at) * 1000)::float8 AS age
      FROM process WHERE executor_id <> ${executorId}`;
    const silent = silence.among(others);
    return others
      .filter((row) => silent.has(row.executor_id) || (row.host === host && !pidExists(row.pid)))
      .map((row) => row.executor_id);
  }

  /** Every open move has asked for its turn in the same transaction; this finds what a defect or a restored backup left without one. */
  async function wakeIdle(): Promise<void> {
    if (performance.now() - lastIdle < IDLE_EVERY_MS) return;
    lastIdle = performance.now();
    const idle = await sql<{ id: string }>`
      SELECT i.id, sentry_enqueue_turn(i.id, 'found idle', 0) FROM incident i
      WHERE i.state IN ('open', 'triaging', 'diagnosing', 'planning', 'awaiting_approval', 'remediating', 'verifying')
        AND i.updated_at < clock_timestamp() - ${IDLE_EVERY_MS} * interval '1 millisecond'
        -- Each as one of the engine's indexes has it.
        AND NOT EXISTS (SELECT FROM dbos.workflow_status w WHERE w.queue_name = ${QUEUE}
                        AND w.queue_partition_key = i.id AND w.status IN ('ENQUEUED', 'PENDING'))
        AND NOT EXISTS (SELECT FROM dbos.workflow_status w WHERE w.queue_name = ${QUEUE}
                        AND w.queue_partition_key = i.id AND w.status = 'DELAYED')`;
    if (idle.length > 0)
      log.warn({ incidents: idle.map(({ id }) => id) }, 'incidents without a turn: asked for one');
  }

  async function clean(): Promise<void> {
    if (performance.now() - lastClean < CLEAN_EVERY_MS) return;
    lastClean = performance.now();
    const old = await sql<{ id: string }>`
      SELECT workflow_uuid AS id FROM dbos.workflow_status
      WHERE completed_at < (extract(epoch FROM now() - ${KEEP_FINISHED_DAYS} * interval '1 day') * 1000)::bigint
      LIMIT 1000`;
    if (old.length > 0) await DBOS.deleteWorkflows(old.map(({ id }) => id));
  }

  async function present(): Promise<void> {
    if (performance.now() - lastPresent < PRESENT_EVERY_MS) return;
    await noteRunning(sql);
    lastPresent = performance.now();
  }

  async function round(): Promise<void> {
    try {
      await beat();
      await sweep();
      await wakeIdle();
      await clean();
      await present();
    } catch (error) {
      // The database may be away; the next beat tries again.
      log.warn({ error: messageOf(error) }, 'heartbeat failed');
    }
  }

  return {
    processes: () => processes,
    async start() {
      await beat();
      await sweep();
      await present();
      timer = setInterval(() => {
        running = running.then(round);
      }, BEAT_MS);
    },
    async stop() {
      clearInterval(timer);
      await running;
      // Other processes may take its turns over at once, without waiting until it counts as dead.
      await sql`DELETE FROM process WHERE executor_id = ${executorId}`.then(undefined, (error: unknown) =>
        log.warn({ error: messageOf(error) }, 'could not sign off'),
      );
    },
  };
}

interface Beat {
  readonly executor_id: string;
  readonly beat: string;
  /** By the database's clock, which may be set at any time. */
  readonly age: number;
}

/**
 * Whose heart stands still: at the first look whoever has been silent long enough by the database's clock, then whoever we
 * have not seen beat for so long. A clock that is set makes nobody dead, and keeps nobody alive. Between two looks we may
 * have been paused ourselves, and the others with us: that counts as no more than two beats.
 */
export function createSilence(now: () => number = () => performance.now()) {
  let seen = new Map<string, { readonly beat: string; readonly silentMs: number }>();
  let lookedAt = now();
  return {
    among(others: readonly Beat[]): ReadonlySet<string> {
      const passedMs = Math.min(now() - lookedAt, 2 * BEAT_MS);
      lookedAt = now();
      seen = new Map(
        others.map(({ executor_id: id, beat, age }) => {
          const before = seen.get(id);
          const silentMs = before
            ? before.beat === beat
              ? before.silentMs + passedMs
              : 0
            : Math.max(0, age);
          return [id, { beat, silentMs }];
        }),
      );
      return new Set([...seen].filter(([, { silentMs }]) => silentMs > DEAD_AFTER_MS).map(([id]) => id));
    },
  };
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
