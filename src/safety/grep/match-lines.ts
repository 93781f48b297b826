import { Worker } from 'node:worker_threads';
import { messageOf, OpsError } from '../../core/errors.ts';
import { workerFile } from '../worker-file.ts';
import type { Matched, MatchTask } from './match-worker.ts';

/** For the start of the thread, and for one line that takes its time, on a machine with other work to do. */
const GRACE_MS = 10_000;

interface Waiting {
  readonly task: MatchTask;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (matched: Matched) => void;
  readonly reject: (error: unknown) => void;
}

const NOT_TRIED: Matched = { hits: [], tried: 0, complete: false };

/**
 * Tries patterns on lines in a thread of its own: whatever patterns and lines are, nobody else waits for it. One task after
 * another; one that does not end is ended with its thread, and answered as not complete.
 *
 * @throws what the signal is aborted with; OpsError MATCHING when the thread fails.
 */
export function matchLines(task: MatchTask, signal?: AbortSignal): Promise<Matched> {
  return new Promise((resolve, reject) => {
    queue.push({ task, signal, resolve, reject });
    next();
  });
}

const queue: Waiting[] = [];
let current: { readonly waiting: Waiting; readonly end: () => void } | undefined;
let worker: Worker | undefined;

function next(): void {
  if (current) return;
  const waiting = queue.shift();
  if (!waiting) return worker?.unref();
  const { task, signal, resolve, reject } = waiting;
  if (signal?.aborted) {
    reject(signal.reason);
    return next();
  }
  const onAbort = (): void => reject(signal?.reason);
  const timer = setTimeout(() => {
    giveUp();
    resolve(NOT_TRIED);
    done();
  }, task.maxMs + GRACE_MS);
  const end = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  current = { waiting, end };
  worker ??= startWorker();
  worker.ref();
  worker.postMessage(task);
}

function done(): void {
  current?.end();
  current = undefined;
  next();
}

function startWorker(): Worker {
  const started = new Worker(...workerFile('match-worker', import.meta.url));
  const isCurrent = (): boolean => worker === started;
  started.on('message', (matched: Matched) => {
    if (!isCurrent()) return;
    current?.waiting.resolve(matched);
    done();
  });
  const lost = (error: unknown): void => {
    if (!isCurrent()) return;
    worker = undefined;
    current?.waiting.reject(
      new OpsError('MATCHING', `Lines could not be searched: ${messageOf(error)}`, {
        hint: 'Try again; when it lasts, restart Sentry.',
        retryable: true,
      }),
    );
    done();
  };
  started.on('error', lost);
  started.on('exit', () => lost(new Error('its thread ended')));
  return started;
}

/** The next task starts another thread. */
function giveUp(): void {
  const held = worker;
  worker = undefined;
  void held?.terminate();
}
