import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Embeds the sections of the runbooks once, beside the compiled embedding, which begins with them: otherwise every first start
 * on an empty data folder spends ten seconds of a processor on it. Sections that stand there already cost nothing.
 */
export async function embedRunbooks(root, runbooks, file) {
  const compiled = (path) => import(pathToFileURL(join(root, 'dist', 'src', path)).href);
  const { createEmbedder } = await compiled('infra/embeddings/embedder.js');
  const { loadRunbooks } = await compiled('runbooks/load-runbooks.js');
  const { chunkRunbook } = await compiled('runbooks/chunk-runbook.js');
  const { documentOf } = await compiled('memory/sync/seed-runbooks.js');
  const loaded = await loadRunbooks(runbooks);
  const texts = [...new Set(loaded.runbooks.flatMap(chunkRunbook).map(documentOf))];
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const embedder = createEmbedder({ log: silent, vectors: pathToFileURL(file) });
  try {
    const vectors = await embedder.embed(texts);
    const parts = texts.flatMap((text, n) => [
      createHash('sha256').update(text).digest(),
      new Uint8Array(Float32Array.from(vectors[n]).buffer),
    ]);
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, Buffer.concat(parts));
    renameSync(draft, file);
  } finally {
    await embedder.close();
  }
}
