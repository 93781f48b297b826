import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than anything takes on a machine with other work to do. */
const PATIENCE_S = 60;

/** Waits until `found` says yes; throws with `what` when that takes too long. */
export async function until(what: string, found: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_S * 1_000;
  while (!(await found())) {
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_S} s for ${what}`);
    await sleep(100);
  }
}
