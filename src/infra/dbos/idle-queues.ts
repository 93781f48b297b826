import { wfQueueRunner } from '@dbos-inc/dbos-sdk/internal/wfqueue';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';

/**
 * The engine (DBOS 5.3) looks at each of its queues in a transaction of four statements, twenty times a second, also while
 * nothing waits in it. Here each look begins with one small statement, and ends there when the queue is empty. It comes when
 * the engine's own would, so nothing begins later.
 */
export interface IdleQueues {
  /** Before the engine is launched. */
  follow(): void;
  leave(): void;
}

export function createIdleQueues({ log }: { readonly log: Log }): IdleQueues {
  const runner = wfQueueRunner as unknown as Runner;
  let isFailing = false;

  async function isEmpty({ systemDatabase }: Executor, { name }: Queue): Promise<boolean> {
    try {
      const statement = { name: 'sentry_queue_waits', text: FIRST_WAITING, values: [name] };
      const { rows } = await systemDatabase.pool.query(statement);
      isFailing = false;
      return rows.length === 0;
    } catch (error) {
      if (!isFailing)
        log.warn({ queue: name, error: messageOf(error) }, 'could not ask whether a queue is empty');
      isFailing = true;
      return false;
    }
  }

  return {
    follow() {
      const { pollQueue } = runner;
      // Another version of the engine may look at its queues in another way: then it does so by itself.
      if (pollQueue?.length !== 2) return;
      runner.pollQueue = async (executor, queue) =>
        (await isEmpty(executor, queue)) ? NOBODY_IN_THE_WAY : pollQueue.call(runner, executor, queue);
    },
    leave() {
      // Its own is the prototype's.
      delete runner.pollQueue;
    },
  };
}

/**
 * Those whose delay is over, and those taken over from the dead, are `ENQUEUED` by then. In the order of an index: without
 * one, PostgreSQL may read the whole table to find out that nothing waits.
 */
const FIRST_WAITING = `
  SELECT FROM dbos.workflow_status WHERE queue_name = $1 AND status = 'ENQUEUED' ORDER BY priority, created_at LIMIT 1`;

/** What `pollQueue` answers where no other process looked at the same time. */
const NOBODY_IN_THE_WAY = false;

/** What is used here of `wfqueue.js`, private to it. */
interface Runner {
  pollQueue?(executor: Executor, queue: Queue): Promise<boolean>;
}

interface Queue {
  readonly name: string;
}

interface Executor {
  readonly systemDatabase: {
    /** The engine's own, so that a statement of ours waits for nothing that its look would not. */
    readonly pool: {
      query(statement: {
        readonly name: string;
        readonly text: string;
        readonly values: readonly string[];
      }): Promise<{ readonly rows: readonly unknown[] }>;
    };
  };
}
