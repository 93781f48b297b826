import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { exitCodes } from './fail.ts';

/** What was under way may take this long to end; the record has the rest, and the next start goes on with it. */
const STOP_MS = 10_000;

/**
 * Ends the process after an error that nobody caught: what it holds in memory is no longer known to be right. It takes no
 * more work, and whatever started it starts it again.
 *
 * @param stop closes what is open so far; asked once
 */
export function endOnUncaughtError(log: Log, stop: () => Promise<void>): void {
  let ending = false;
  process.on('uncaughtException', (error) => {
    log.error({ error: messageOf(error), stack: stackOf(error) }, 'an error was caught nowhere: Sentry ends');
    if (ending) return;
    ending = true;
    const stopped = stop().catch((fault: unknown) =>
      log.error({ error: messageOf(fault) }, 'a part could not be stopped'),
    );
    void Promise.race([stopped, sleep(STOP_MS)]).then(() => process.exit(exitCodes.crashed));
  });
}

/** Anything can be thrown. */
function stackOf(error: unknown): string {
  return error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
}
