import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer is there, or fails saying what it waited for and what it saw last. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false>,
  options: { readonly timeoutMs?: number; readonly everyMs?: number; readonly seen?: () => unknown } = {},
): Promise<T> {
  const deadline = Date.now() + (options.timeoutMs ?? 20_000);
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline)
      throw new Error(`waited in vain for ${what}; last seen: ${JSON.stringify(options.seen?.() ?? null)}`);
    await sleep(options.everyMs ?? 50);
  }
}
