import { wfQueueRunner } from '@dbos-inc/dbos-sdk/internal/wfqueue';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import { APPLICATION } from './enqueue-function.ts';

const LOOK_EVERY_MS = 500;
/** Clocks that are steered drift by less within one look. */
const STEP_MS = 250;
/** The engine looks for turns whose delay is over every second, if its loop is not asleep for a clock that was later. */
const ASLEEP_MS = 5_000;
/** By so much at most the engine draws out the time to its next look at a queue. */
const JITTER = 1.05;
/** Worth a line in the log. */
const TOLD_MS = 1_000;

/**
 * The engine (DBOS 5.3) plans its next look at the queues by the wall clock, so one that steps back stops all turns for as
 * long as the step. Here its loop begins anew when that happens, and delays are judged by the database's clock.
 */
export interface WallClock {
  /** Before the engine is launched. */
  follow(): void;
  /** Before the engine is shut down: its loop does not begin again. */
  leave(): void;
}

export function createWallClock({ sql, log }: { readonly sql: Sql; readonly log: Log }): WallClock {
  let leave = () => undefined as void;
  let timer: NodeJS.Timeout | undefined;
  let isFollowed = false;
  let beginsAnew = false;
  let enqueuedAt = 0;

  function look(before: number): void {
    const now = Date.now() - performance.now();
    const step = now - before;
    if (Math.abs(step) > TOLD_MS)
      log.warn({ seconds: Math.round(step / 1000) }, 'the clock of this machine was set; turns go on');
    // Its plans are looked at and not the steps alone: a clock may be set forth and back between two looks.
    if (performance.now() - enqueuedAt > ASLEEP_MS || isPlannedByLaterClock()) {
      beginsAnew = true;
      wfQueueRunner.stop();
    }
    timer = setTimeout(() => look(now), LOOK_EVERY_MS);
  }

  return {
    follow() {
      isFollowed = true;
      const { dispatchLoop } = wfQueueRunner;
      leave = () => {
        wfQueueRunner.dispatchLoop = dispatchLoop;
      };
      wfQueueRunner.dispatchLoop = async (executor, ...rest) => {
        executor.systemDatabase.transitionDelayedWorkflows = async () => {
          enqueuedAt = performance.now();
          await enqueueDue(sql);
        };
        do {
          beginsAnew = false;
          enqueuedAt = performance.now();
          await dispatchLoop.call(wfQueueRunner, executor, ...rest);
        } while (beginsAnew && isFollowed);
      };
      look(Date.now() - performance.now());
    },
    leave() {
      isFollowed = false;
      clearTimeout(timer);
      leave();
    },
  };
}

/** What `wfqueue.js` keeps of every queue; times are of the wall clock, in ms. */
interface QueueState {
  readonly nextPollAt: number;
  readonly currentPollingMs: number;
}

function isPlannedByLaterClock(): boolean {
  const now = Date.now();
  const { states } = wfQueueRunner as unknown as { readonly states: ReadonlyMap<string, QueueState> };
  return [...states.values()].some(
    ({ nextPollAt, currentPollingMs }) => nextPollAt > now + currentPollingMs * JITTER + STEP_MS,
  );
}

/**
 * Turns whose delay is over, by the clock that they were delayed by. Of those that seem to come from the future the clock has
 * been set back since: their delay begins again.
 */
async function enqueueDue(sql: Sql): Promise<void> {
  await sql`
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now), again AS (
      UPDATE dbos.workflow_status SET delay_until_epoch_ms = now + delay_until_epoch_ms - created_at, created_at = now
        FROM clock WHERE status = 'DELAYED' AND application_name = ${APPLICATION} AND created_at > now + ${STEP_MS}
    )
    UPDATE dbos.workflow_status SET status = 'ENQUEUED', updated_at = now
      FROM clock WHERE status = 'DELAYED' AND application_name = ${APPLICATION} AND delay_until_epoch_ms <= now
       AND created_at <= now + ${STEP_MS}`;
}
