import type { AttemptOptions } from './backend.ts';
import { LlmError } from './llm-error.ts';

/** Ends an attempt when the caller aborts, the time is up or nothing arrives any more, and says which it was. */
export interface Watchdog {
  /** Its reason is the `LlmError` that ended the attempt. */
  readonly signal: AbortSignal;
  /** Something arrived. */
  touch(): void;
  /** The value, or the reason this attempt ended for, whichever is first. */
  orAbort<T>(value: Promise<T>): Promise<T>;
  /** To be called at the end of every attempt. */
  stop(): void;
}

/**
 * A stream that brings no event for so long is given up. Pings do not count (the SDK keeps them to itself), and hard
 * thinking is silent for long: giving up early costs more than waiting.
 */
export const DEFAULT_IDLE_MS = 120_000;

export function startWatchdog(attempt: AttemptOptions, idleMs = DEFAULT_IDLE_MS): Watchdog {
  const controller = new AbortController();
  let idle: NodeJS.Timeout | undefined;
  const end = (error: LlmError) => controller.abort(error);
  const onAbort = () => end(new LlmError('LLM_ABORTED', 'the model call was stopped'));
  const touch = () => {
    clearTimeout(idle);
    idle = setTimeout(
      () => end(new LlmError('LLM_STALLED', `nothing arrived for ${idleMs} ms`, { retryable: true })),
      idleMs,
    );
  };
  const deadline = setTimeout(
    () => end(new LlmError('LLM_DEADLINE', `no whole answer within ${Math.round(attempt.timeoutMs)} ms`)),
    attempt.timeoutMs,
  );
  attempt.signal.addEventListener('abort', onAbort, { once: true });
  if (attempt.signal.aborted) onAbort();
  touch();

  return {
    signal: controller.signal,
    touch,
    async orAbort(value) {
      controller.signal.throwIfAborted();
      const aborted = new Promise<never>((_, reject) => {
        controller.signal.addEventListener('abort', () => reject(controller.signal.reason as LlmError), {
          once: true,
        });
      });
      return Promise.race([value, aborted]);
    },
    stop() {
      clearTimeout(idle);
      clearTimeout(deadline);
      attempt.signal.removeEventListener('abort', onAbort);
    },
  };
}
