// `npm run test:findings [-- --id F4 …]`: runs the tests that show that what attacks on Sentry found is mended, and names
// them. Which findings there are: test/findings.json; a test carries the ids of those it shows in its title, as `[F4]`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { PrepareError, prepare, root } from './lib/prepare.mjs';

const findings = JSON.parse(readFileSync(join(root, 'test/findings.json'), 'utf8'));

/** Exit code 2: a mistake in the call. */
function usage(reason) {
  process.stderr.write(
    `${reason}\nUsage: npm run test:findings [-- --id F4 --id C1 …]; there is ${Object.keys(findings).join(', ')}.\n`,
  );
  process.exit(2);
}

function wanted() {
  try {
    const { values } = parseArgs({ options: { id: { type: 'string', multiple: true } } });
    return values.id ?? Object.keys(findings);
  } catch (error) {
    return usage(error.message);
  }
}

/** The test files that name one of these ids. */
function filesOf(ids) {
  const named = ids.map((id) => `[${id}]`);
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join(root, 'test', path))
    .filter((path) => {
      const text = readFileSync(path, 'utf8');
      return named.some((each) => text.includes(each));
    });
}

/** Runs them; returns the tests that ran, `{ fullName, status }`. */
function run(ids, files) {
  const folder = mkdtempSync(join(tmpdir(), 'sentry-findings-'));
  const report = join(folder, 'report.json');
  const only = `\\[(?:${ids.join('|')})\\]`;
  const args = ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`, '-t', only];
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  spawnSync(process.execPath, [vitest, ...args, ...files.map((file) => relative(root, file))], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults
      .flatMap((file) => file.assertionResults)
      .filter(({ status }) => status === 'passed' || status === 'failed');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ids = wanted();
const unknown = ids.find((id) => !Object.hasOwn(findings, id));
if (unknown !== undefined) usage(`There is no finding ${unknown}.`);
try {
  await prepare({ evenWithErrors: false });
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exit(1);
}
const files = filesOf(ids);
const ran = files.length === 0 ? [] : run(ids, files);
const shownBy = (id) => ran.filter(({ fullName }) => fullName.includes(`[${id}]`));
for (const id of ids) {
  const shown = shownBy(id);
  process.stdout.write(`\n${id}: ${findings[id]}\n`);
  for (const { status, fullName } of shown)
    process.stdout.write(`  ${status === 'passed' ? '✓' : '✗'} ${fullName}\n`);
  if (shown.length === 0) process.stdout.write('  no test\n');
}
const failed = ran.filter(({ status }) => status === 'failed').length;
process.stdout.write(`\n${ran.length - failed} passed, ${failed} failed\n`);
process.exit(failed === 0 && ids.every((id) => shownBy(id).length > 0) ? 0 : 1);
