// `npm start` and `npm run sentry`: brings a checkout into the state in which it runs, then runs it in this very
// process (so that signals, exit code and terminal are the program's own). Needs nothing but Node; this file is
// written for old versions too, so that they get the message below and not a syntax error.
import { readFileSync } from 'node:fs';

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
process.argv = [process.argv[0], main.pathname, ...process.argv.slice(2)];
process.setSourceMapsEnabled(true);
await import(main.href);
