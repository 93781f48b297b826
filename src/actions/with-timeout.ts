import { OpsError } from '../core/errors.ts';

/**
 * Runs `work` with a signal that aborts after `timeoutMs` or with the caller's signal, and rejects then even when `work`
 * does not listen.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new OpsError('TIMEOUT', `No answer within ${timeoutMs / 1000} s.`, {
    hint: 'The target may be overloaded; ask for less or try again.',
    retryable: true,
  });
  const stopped = new OpsError('STOPPED', 'Stopped before it had an answer.', {
    hint: 'Its incident was stopped or closed. After a stop, resume it to go on.',
    retryable: true,
  });
  const controller = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const give = (error: OpsError): void => {
      controller.abort(error);
      reject(error);
    };
    const timer = setTimeout(() => give(timeout), timeoutMs);
    const onAbort = (): void => give(stopped);
    if (outer.aborted) onAbort();
    else outer.addEventListener('abort', onAbort, { once: true });
    const finish = (): void => {
      clearTimeout(timer);
      outer.removeEventListener('abort', onAbort);
    };
    if (controller.signal.aborted) {
      finish();
      return;
    }
    // Also what throws before it gives a promise, or gives none.
    Promise.resolve(controller.signal).then(work).then(resolve, reject).finally(finish);
  });
}
