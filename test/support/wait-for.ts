import { AssertionError } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { patience } from './patience.ts';

/**
 * Asks until the answer is there, or fails saying what it waited for and what it saw last.
 *
 * @param options.timeoutMs on a quiet machine, generously; `patience` is added to it. 20 s when not given.
 */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false>,
  options: { readonly timeoutMs?: number; readonly everyMs?: number; readonly seen?: () => unknown } = {},
): Promise<T> {
  const deadline = performance.now() + (options.timeoutMs ?? 20_000) * patience;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (performance.now() > deadline)
      throw new AssertionError({
        message: `waited in vain for ${what}; last seen: ${JSON.stringify(options.seen?.() ?? null)}`,
      });
    await sleep(options.everyMs ?? 50);
  }
}
