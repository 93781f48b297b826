import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Log } from '../../core/log.ts';

const RESOLUTION_MS = 20;
const TICK_MS = 250;
const TELL_MS = 1_000;

export interface LoopDelay {
  /** Of the time since the last ask, in ms. */
  readonly p99Ms: number;
  /** The longest since the start, in ms. */
  readonly longestMs: number;
  /** How often it was held for longer than a second since the start. */
  readonly stalls: number;
}

export interface LoopWatch {
  delay(): LoopDelay;
  stop(): void;
}

/**
 * Tells when something held the event loop: meanwhile no approval, no *Stop* and no heartbeat got through. A process that was
 * paused from outside looks the same.
 */
export function watchEventLoop(log: Log): LoopWatch {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let longestMs = 0;
  let stalls = 0;
  let due = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const heldMs = Math.round(performance.now() - due);
    due = performance.now() + TICK_MS;
    longestMs = Math.max(longestMs, heldMs);
    if (heldMs <= TELL_MS) return;
    stalls += 1;
    log.warn({ heldMs }, 'the event loop was held: nothing else ran meanwhile');
  }, TICK_MS);
  timer.unref();
  return {
    delay() {
      const p99Ms = histogram.count === 0 ? 0 : Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS);
      histogram.reset();
      return { p99Ms, longestMs, stalls };
    },
    stop() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
