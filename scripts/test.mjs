// `npm test [-- <vitest filters>]`, `npm run test:chaos`: installs and compiles if needed (the e2e and chaos tests run
// the compiled product), runs the tests, says what was skipped and why. The last line is always `N passed, N failed`.
// With CI=true a skipped test is a failed one: what is not run there is run nowhere.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PrepareError, prepare, root } from './lib/prepare.mjs';

const isCi = process.env.CI === 'true' || process.env.CI === '1'; // oxlint-disable-line node/no-process-env

/** @returns {never} */
function finish(passed, failed) {
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

try {
  await prepare({ evenWithErrors: false });
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  finish(0, 1);
}

const results = join(root, 'test-results');
mkdirSync(results, { recursive: true });
const reporter = fileURLToPath(new URL('./lib/test-reporter.mjs', import.meta.url));
const given = process.argv.slice(2);
// The chaos tests take as long as all others together: they run where they are asked for.
const projects = given.some((arg) => /^--project|chaos/.test(arg)) ? [] : ['--project=!chaos'];
const args = ['run', '--reporter=default', `--reporter=${reporter}`, ...projects, ...given];
const child = spawn(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
  cwd: root,
  stdio: 'inherit',
});
const summaryFile = join(results, `summary-${child.pid}.json`);
// The terminal sends Ctrl-C to vitest as well, which stops its servers; a signal to this process alone is passed on.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
const [code, signal] = await new Promise((resolve) => {
  child.once('exit', (...ended) => resolve(ended));
  child.once('error', (error) => resolve([error.message, null]));
});

if (!existsSync(summaryFile)) {
  process.stderr.write(`\nThe test run ended before it was done (${signal ?? code}).\n`);
  finish(0, 1);
}
const { passed, failed, skipped, failures, retried } = JSON.parse(readFileSync(summaryFile, 'utf8'));
rmSync(summaryFile);

process.stdout.write('\n');
if (failures.length > 0) process.stdout.write(`Failed:\n${failures.map((name) => `  ${name}\n`).join('')}`);
if (retried.length > 0)
  process.stdout.write(`Passed only when tried again:\n${retried.map((name) => `  ${name}\n`).join('')}`);
if (skipped.length > 0) {
  process.stdout.write(`Skipped ${skipped.length}:\n`);
  for (const { name, why } of skipped) process.stdout.write(`  ${name}: ${why}\n`);
  if (isCi) process.stdout.write('CI=true: every skipped test counts as failed.\n');
} else {
  process.stdout.write('Skipped: nothing\n');
}
const bad = failed + (isCi ? skipped.length : 0);
// vitest fails for more than failed tests (an error outside a test, no test found): never report that as a success.
finish(passed, bad === 0 && code !== 0 ? 1 : bad);
