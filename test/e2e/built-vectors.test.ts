import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createEmbedder } from '../../src/infra/embeddings/embedder.ts';
import { createVectorCache, readVectors } from '../../src/infra/embeddings/vector-cache.ts';
import { documentOf } from '../../src/memory/sync/seed-runbooks.ts';
import { chunkRunbook } from '../../src/runbooks/chunk-runbook.ts';
import { loadRunbooks } from '../../src/runbooks/load-runbooks.ts';
import { repository } from '../support/product.ts';
import { quiet } from '../support/quiet.ts';
import { scratchDir } from '../support/scratch-dir.ts';

test('the build embeds every section as it is asked for, and as the model does', async () => {
  const runbooks = join(scratchDir(), 'runbooks');
  const one = 'postgres/table-bloat.md';
  cpSync(join(repository, 'runbooks', one), join(runbooks, one));
  const file = join(scratchDir(), 'vectors.bin');
  const writer = pathToFileURL(join(repository, 'scripts/lib/embed-runbooks.mjs')).href;
  const script = join(scratchDir(), 'embed.mjs');
  writeFileSync(
    script,
    `import { embedRunbooks } from '${writer}'; await embedRunbooks(...process.argv.slice(2));`,
  );
  const run = spawnSync(process.execPath, [script, repository, runbooks, file], { encoding: 'utf8' });
  expect(run).toMatchObject({ status: 0, stderr: '' });

  const texts = (await loadRunbooks(runbooks)).runbooks.flatMap(chunkRunbook).map(documentOf);
  expect(texts.length).toBeGreaterThan(1);
  const built = createVectorCache(() => readVectors(pathToFileURL(file), 512));
  const model = createEmbedder({ log: quiet, vectors: pathToFileURL(`${file}.none`) });
  const made = await model.embed(texts).finally(() => model.close());
  for (const [n, text] of texts.entries()) {
    const vector = built.get(text);
    expect(vector).toHaveLength(512);
    vector?.forEach((value, at) => {
      expect(value).toBeCloseTo(made[n]?.[at] ?? Number.NaN, 4);
    });
  }
});
