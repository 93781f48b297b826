// `npm start` and `npm run sentry`: brings a checkout into the state in which it runs, then runs it. `start` is the child
// of this process, which starts it again when it ends by a fault; every other command runs in this very process (so that
// signals, exit code and terminal are its own). Needs nothing but Node; this file is written for old versions too, so
// that they get the message below and not a syntax error.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);
const needed = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')).engines.node.replace('>=', '');
const [major, minor] = needed.split('.').map(Number);
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  process.stderr.write(
    `Sentry needs Node ${needed} or newer, this is ${process.versions.node}. Get it from https://nodejs.org or your package manager.\n`,
  );
  process.exit(1);
}

const { prepare, PrepareError } = await import('./lib/prepare.mjs');
try {
  await prepare({ evenWithErrors: false });
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exit(1);
}

const main = new URL('dist/src/main.js', root);
const args = process.argv.slice(2);
if (args[0] === 'start') {
  const { supervise } = await import('./lib/supervise.mjs');
  process.exit(await supervise(['--enable-source-maps', fileURLToPath(main), ...args]));
}
process.argv = [process.argv[0], fileURLToPath(main), ...args];
process.setSourceMapsEnabled(true);
await import(main.href);
