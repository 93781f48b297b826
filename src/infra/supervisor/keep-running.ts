import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';

/** What can be kept running: an embedded server or a child process. */
export interface Running {
  /** Resolves when it is gone for whatever reason. */
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface KeepRunningOptions<R extends Running> {
  readonly name: string;
  readonly start: () => Promise<R>;
  readonly log: Log;
  /** Called after each restart, e.g. to notice that a port has moved. Must not throw. */
  readonly onRestart?: (running: R) => void;
  /** Waiting times between attempts, in ms; the last one repeats. Given by tests. */
  readonly backoffMs?: readonly number[];
}

export interface KeptRunning<R extends Running> {
  /** The one that runs now, or the last that did. */
  readonly current: () => R;
  /** Ends it for good; waits for a restart in progress. Can be repeated. */
  readonly stop: () => Promise<void>;
}

/** Up this long, the next death counts as the first. */
const steadyMs = 60_000;

/**
 * Starts something and starts it again whenever it dies: at once the first time, then after growing pauses, for ever
 * (a full disk is freed some day). The first start's failure is thrown; later ones are logged.
 */
export async function keepRunning<R extends Running>(
  options: KeepRunningOptions<R>,
): Promise<KeptRunning<R>> {
  const state = { running: await options.start(), stopping: new AbortController() };
  const watching = watch(options, state);
  return {
    current: () => state.running,
    stop: async () => {
      state.stopping.abort();
      // A restart in progress ends first: it decides what there is to stop.
      await watching;
      await state.running.stop();
    },
  };
}

interface Watched<R extends Running> {
  running: R;
  readonly stopping: AbortController;
}

async function watch<R extends Running>(options: KeepRunningOptions<R>, state: Watched<R>): Promise<void> {
  const { signal } = state.stopping;
  for (;;) {
    const since = Date.now();
    await Promise.race([state.running.exited, aborted(signal)]);
    if (signal.aborted) return;
    options.log.warn(
      { name: options.name, upMs: Date.now() - since },
      `${options.name} died: starting it again`,
    );
    const next = await startAgain(options, signal, Date.now() - since >= steadyMs);
    if (next === undefined) return;
    state.running = next;
    options.onRestart?.(next);
  }
}

async function startAgain<R extends Running>(
  { name, start, log, backoffMs = [0, 500, 2_000, 5_000, 15_000] }: KeepRunningOptions<R>,
  signal: AbortSignal,
  wasSteady: boolean,
): Promise<R | undefined> {
  for (let attempt = wasSteady ? 0 : 1; ; attempt += 1) {
    await pause(backoffMs[Math.min(attempt, backoffMs.length - 1)] ?? 0, signal);
    if (signal.aborted) return undefined;
    try {
      return await start();
    } catch (error) {
      log.error({ name, error: messageOf(error) }, `${name} cannot be started again: trying on`);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await Promise.race([sleep(ms, undefined, { ref: false }), aborted(signal)]);
}
