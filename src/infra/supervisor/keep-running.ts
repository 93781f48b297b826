import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { ChildSpec, RunningChild } from './child-spec.ts';
import { type Holder, newHolder } from './child-state.ts';
import { isFolderGone, startChild } from './start-child.ts';

export interface KeptRunning<Info extends object> {
  /** The one that runs now, or the last that did. */
  readonly current: () => RunningChild<Info>;
  /** Ends it for good; waits for a restart in progress. Can be repeated. */
  readonly stop: () => Promise<void>;
}

interface Kept<Info extends object> {
  child: RunningChild<Info>;
  readonly holder: Holder;
  readonly signal: AbortSignal;
}

/** Up this long, ms, the next death counts as the first. */
const steadyMs = 60_000;
/** Before each attempt, ms; the last one repeats, for ever: a full disk is freed some day. */
const pausesMs = [0, 500, 2_000, 5_000, 15_000];

/**
 * Starts a child, and starts it again whenever it dies: at once after a steady run, else after growing pauses. The
 * first start's failure is thrown; later ones are logged.
 */
export async function keepRunning<Info extends object>(spec: ChildSpec<Info>): Promise<KeptRunning<Info>> {
  const holder = newHolder();
  const stopping = new AbortController();
  const kept: Kept<Info> = {
    child: await startChild(spec, holder),
    holder,
    signal: stopping.signal,
  };
  const watching = watch(spec, kept);
  return {
    current: () => kept.child,
    stop: async () => {
      stopping.abort();
      // A restart in progress ends first: it decides what there is to stop.
      await watching;
      await kept.child.stop();
    },
  };
}

async function watch<Info extends object>(spec: ChildSpec<Info>, kept: Kept<Info>): Promise<void> {
  const stopped = once(kept.signal, 'abort');
  for (;;) {
    const since = performance.now();
    await Promise.race([kept.child.exited, stopped]);
    if (kept.signal.aborted) return;
    const upMs = performance.now() - since;
    // Another one would begin with nothing, as if nothing had been lost.
    if (isFolderGone(spec.dataDir)) {
      spec.log.error({ folder: spec.dataDir }, `${spec.name} died with its folder: not started again`);
      return;
    }
    spec.log.warn({ upMs }, `${spec.name} died: starting it again`);
    await startAgain(spec, kept, upMs >= steadyMs ? 0 : 1);
  }
}

async function startAgain<Info extends object>(
  spec: ChildSpec<Info>,
  kept: Kept<Info>,
  firstAttempt: number,
): Promise<void> {
  for (let attempt = firstAttempt; ; attempt += 1) {
    const pauseMs = pausesMs[attempt] ?? pausesMs.at(-1);
    // It ends early when we stop, which is looked at below.
    await sleep(pauseMs, undefined, { ref: false, signal: kept.signal }).catch(() => undefined);
    if (kept.signal.aborted) return;
    if (isFolderGone(spec.dataDir)) return;
    try {
      kept.child = await startChild(spec, kept.holder);
      return;
    } catch (error) {
      spec.log.error({ error: messageOf(error) }, `${spec.name} cannot be started again: trying on`);
    }
  }
}
