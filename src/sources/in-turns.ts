import { setImmediate as nextLoop } from 'node:timers/promises';

/** Nobody who waits for an answer notices so short a time. */
const TURN_MS = 20;

/** One item after the other, letting everything else go on in between: a list of somebody else's may hold a hundred thousand. */
export async function inTurns<T, R>(
  items: readonly T[],
  work: (item: T) => R | Promise<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  let since = performance.now();
  for (const item of items) {
    done.push(await work(item));
    if (performance.now() - since < TURN_MS) continue;
    await nextLoop();
    since = performance.now();
  }
  return done;
}
