import { Worker } from 'node:worker_threads';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { workerFile } from '../../safety/worker-file.ts';
import { type Embedder, OFFLINE_MODEL } from '../../search/ports.ts';
import type { EmbedAnswer, EmbedTask } from './embedding-worker.ts';
import { createVectorCache, readVectors } from './vector-cache.ts';

/** Universal Sentence Encoder lite, inside the package: nothing is downloaded. Change it with the model. */
export const OFFLINE = `${OFFLINE_MODEL}@0.2 512d`;
const DIMENSIONS = 512;
/** Of the runbooks that ship, where the build made them: 10 s of a processor that a first start need not spend. */
const BUILT_VECTORS = new URL('./runbook-vectors.bin', import.meta.url);
/** A task of four texts takes about 0.2 s: a query never waits longer than that behind other work. */
const TASK_TEXTS = 4;
/** The model reads little more than a paragraph; what is beyond only costs time. */
const MAX_CHARACTERS = 2_000;

interface Wanted {
  readonly text: string;
  readonly resolve: (vector: readonly number[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The offline embedding, in a thread of its own so that it never holds up the event loop; starts with its first use. */
export function createEmbedder({
  log,
  vectors = BUILT_VECTORS,
}: {
  readonly log: Log;
  readonly vectors?: URL;
}): Embedder {
  const cache = createVectorCache(() => readVectors(vectors, DIMENSIONS));
  const queues: { readonly now: Wanted[]; readonly later: Wanted[] } = { now: [], later: [] };
  let worker: Worker | undefined;
  let busy: { readonly id: number; readonly wanted: readonly Wanted[] } | undefined;
  let lastId = 0;
  let closed = false;

  return {
    fingerprint: OFFLINE,
    embed: (texts, when = 'now') =>
      Promise.all(texts.map((text) => embedOne(text.slice(0, MAX_CHARACTERS), when))),
    async close() {
      closed = true;
      fail(new Error('closed'));
      await worker?.terminate();
    },
  };

  async function embedOne(text: string, when: 'now' | 'later'): Promise<readonly number[]> {
    const known = cache.get(text);
    if (known) return known;
    const vector = await new Promise<readonly number[]>((resolve, reject) => {
      if (closed) return reject(failure('the embedding is closed'));
      queues[when].push({ text, resolve, reject });
      pump();
    });
    cache.set(text, vector);
    return vector;
  }

  function pump(): void {
    if (busy || closed) return;
    const queue = queues.now.length > 0 ? queues.now : queues.later;
    const wanted = queue.splice(0, TASK_TEXTS);
    if (wanted.length === 0) {
      worker?.unref();
      return;
    }
    lastId += 1;
    busy = { id: lastId, wanted };
    worker ??= startWorker();
    worker.ref();
    const task: EmbedTask = { id: lastId, texts: wanted.map(({ text }) => text) };
    worker.postMessage(task);
  }

  function startWorker(): Worker {
    const started = new Worker(...workerFile('embedding-worker', import.meta.url));
    started.on('message', (answer: EmbedAnswer) => {
      if (answer.id !== busy?.id) return;
      const { wanted } = busy;
      busy = undefined;
      if ('error' in answer) for (const { reject } of wanted) reject(failure(answer.error));
      else
        wanted.forEach(({ resolve, reject }, i) => {
          const vector = answer.vectors[i];
          if (vector) resolve(vector);
          else reject(failure('the model gave no vector'));
        });
      pump();
    });
    started.on('error', (error) => {
      log.error({ error: messageOf(error) }, 'the embedding thread failed');
      lost(started, error);
    });
    started.on('exit', () => lost(started, new Error('the embedding thread ended')));
    return started;
  }

  /** The next use starts another thread. */
  function lost(which: Worker, error: unknown): void {
    if (worker !== which) return;
    worker = undefined;
    fail(error);
  }

  function fail(error: unknown): void {
    const wanted = [...(busy?.wanted ?? []), ...queues.now.splice(0), ...queues.later.splice(0)];
    busy = undefined;
    for (const { reject } of wanted) reject(failure(messageOf(error)));
  }
}

function failure(reason: string): OpsError {
  return new OpsError('EMBEDDINGS_FAILED', `texts could not be embedded: ${reason}`, {
    hint: 'Memory works without for now; see the log, and run "sentry doctor".',
    retryable: true,
  });
}
