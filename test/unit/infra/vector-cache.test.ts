import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createEmbedder } from '../../../src/infra/embeddings/embedder.ts';
import { createVectorCache, readVectors } from '../../../src/infra/embeddings/vector-cache.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const record = (text: string, vector: readonly number[]) =>
  Buffer.concat([
    createHash('sha256').update(text).digest(),
    new Uint8Array(Float32Array.from(vector).buffer),
  ]);

function fileOf(...parts: readonly Buffer[]): URL {
  const file = join(scratchDir(), 'vectors.bin');
  writeFileSync(file, Buffer.concat(parts));
  return pathToFileURL(file);
}

test('a vector that the build has made is not made again', async () => {
  const vector = Array.from({ length: 512 }, (_, n) => n / 512);
  const embedder = createEmbedder({ log: quiet, vectors: fileOf(record('known', vector)) });
  // The thread of the model is not started: a unit test starts nothing.
  expect(await embedder.embed(['known'])).toEqual([vector]);
  await embedder.close();
});

test('what is cut off at the end of the file is left out, and so is a file that is not there', () => {
  const cut = fileOf(record('one', [1, 2]), record('two', [3, 4]).subarray(0, -1));
  const cache = createVectorCache(() => readVectors(cut, 2));
  expect(cache.get('one')).toEqual([1, 2]);
  expect(cache.get('two')).toBeUndefined();
  expect(readVectors(pathToFileURL(join(scratchDir(), 'none.bin')), 2).size).toBe(0);
});
