import { watch } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../core/errors.ts';

/** Editors write a file in several steps: what follows within this time is one change. */
const SETTLE_MS = 300;

/** Does `work` after each change below the folder, one at a time, until Ctrl-C or SIGTERM. A failure is told and watching goes on. */
export async function watchFolder(
  dir: string,
  work: () => Promise<void>,
  ending: AbortController = new AbortController(),
): Promise<void> {
  const end = () => ending.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  let changed = 0;
  let running: Promise<void> = Promise.resolve();
  try {
    for await (const _ of watch(dir, { recursive: true, signal: ending.signal })) {
      changed += 1;
      const mine = changed;
      running = running.then(async () => {
        await sleep(SETTLE_MS);
        // A later change does it for this one too.
        if (mine !== changed || ending.signal.aborted) return;
        await work().catch((error: unknown) => process.stderr.write(`${messageOf(error)}\n`));
      });
    }
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
    await running;
  }
}
