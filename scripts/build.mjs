// `npm run build [-- --even-with-errors]`: compiles into dist/ when something changed since the last time.
// Embeds the runbooks as well, which `npm start` leaves to the running product: there somebody waits.
// --even-with-errors keeps the output although the compiler complains, for work in progress.
import { join } from 'node:path';
import { embedRunbooks } from './lib/embed-runbooks.mjs';
import { PrepareError, prepare, root } from './lib/prepare.mjs';

try {
  const built = await prepare({ evenWithErrors: process.argv.includes('--even-with-errors') });
  process.stderr.write(built ? '' : 'dist/ is up to date\n');
  const vectors = join(root, 'dist', 'src', 'infra', 'embeddings', 'runbook-vectors.bin');
  await embedRunbooks(root, join(root, 'runbooks'), vectors).catch((error) =>
    process.stderr.write(
      `The runbooks were not embedded, the product does it when it starts: ${error.message}\n`,
    ),
  );
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exit(1);
}
