// `npm run build [-- --even-with-errors]`: compiles into dist/ when something changed since the last time.
// --even-with-errors keeps the output although the compiler complains, for work in progress.
import { PrepareError, prepare } from './lib/prepare.mjs';

try {
  const built = await prepare({ evenWithErrors: process.argv.includes('--even-with-errors') });
  process.stderr.write(built ? '' : 'dist/ is up to date\n');
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exit(1);
}
