// `scripts/red-before <commit> [test file …]`: runs today's tests of test/integration/truth, or those named, against the
// code of a commit, and prints each assertion that was red there. Exits 1 when a file has none: then it shows nothing that
// was mended since. Run it in a checkout that is installed; what is not committed yet is tried as well.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const truth = join('test', 'integration', 'truth');
/** Of today, over the commit's own: the tests, what they stand on, and the dependencies they run with. */
const laidOver = [truth, join('test', 'support'), 'vitest.config.ts', 'package-lock.json'];

const [commit, ...named] = process.argv.slice(2);
const root = git(process.cwd(), 'rev-parse', '--show-toplevel');
if (commit === undefined) {
  process.stderr.write('Usage: scripts/red-before <commit> [test file …]\n');
  process.exit(2);
}
const files = named.length > 0 ? named : testsIn(truth);
const before = join(mkdtempSync(join(tmpdir(), 'red-before-')), 'checkout');
git(root, 'worktree', 'add', '--quiet', '--detach', before, commit);
// Ctrl-C goes to the running step as well: it ends, and what was made is removed below.
process.on('SIGINT', () => undefined);
try {
  prepare();
  process.exitCode = print(readResults(), git(root, 'rev-parse', '--short', commit));
} finally {
  git(root, 'worktree', 'remove', '--force', before);
  rmSync(join(before, '..'), { recursive: true, force: true });
}

function git(folder, ...args) {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
}

function testsIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .sort();
}

/** The commit's code with today's tests, compiled: some tests run the product. */
function prepare() {
  for (const path of new Set([...laidOver, ...files])) {
    rmSync(join(before, path), { recursive: true, force: true });
    if (existsSync(join(root, path))) cpSync(join(root, path), join(before, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(before, 'node_modules'));
  if (!existsSync(join(before, 'scripts', 'build.mjs'))) return;
  spawnSync(process.execPath, ['scripts/build.mjs', '--even-with-errors'], { cwd: before, stdio: 'inherit' });
}

/** @returns {{ file: string, red: object[], green: number, unable: object[] }[]} one for each test file */
function readResults() {
  const output = join(before, 'red-before.json');
  const vitest = join(before, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--retry=0', '--reporter=json', `--outputFile=${output}`, ...files];
  // Its own words are about a run that is meant to fail.
  spawnSync(process.execPath, args, { cwd: before, stdio: ['ignore', 'ignore', 'inherit'] });
  if (!existsSync(output)) throw new Error('vitest ended without results; its words are above');
  const { testResults } = JSON.parse(readFileSync(output, 'utf8'));
  return files.map((file) => {
    const found = testResults.find(({ name }) => name === join(before, file) || name.endsWith(`/${file}`));
    return { file, ...sorted(found) };
  });
}

/** Red is an assertion that failed. What failed in any other way has not been tried: the code it needs is not there. */
function sorted(found) {
  const tests = found?.assertionResults ?? [];
  const red = [];
  const unable = [];
  for (const { status, fullName, failureMessages } of tests) {
    if (status === 'passed') continue;
    const text = (failureMessages ?? []).join('\n');
    const one = { name: fullName, at: placeOf(text), text: shortened(text) || status };
    (/^AssertionError\b/.test(text) ? red : unable).push(one);
  }
  if (tests.length === 0)
    unable.push({
      name: 'the whole file',
      at: '',
      text: shortened(found?.message ?? '') || 'no test in it ran',
    });
  return { red, unable, green: tests.filter(({ status }) => status === 'passed').length };
}

/** The first line of a test in the stack. */
function placeOf(text) {
  const [, path, line] = /((?:\/[^\s():]+)+\.test\.ts):(\d+)/.exec(text) ?? [];
  return path === undefined ? '' : `${relative(before, path)}:${line}`;
}

/** What was expected and seen, without the stack and colours. */
function shortened(text) {
  const [words] = text.split(/\n\s+at /);
  return words
    .replaceAll(/\u001B\[\d+m/g, '') // oxlint-disable-line no-control-regex
    .replace(/^AssertionError(?: \[\w+\])?: /, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 300);
}

/** @returns the exit code */
function print(results, name) {
  const say = (line) => process.stdout.write(`${line}\n`);
  for (const { file, red, unable } of results) {
    if (red.length + unable.length > 0) say(`\n${file}`);
    for (const one of red) say(`  red: ${one.name}\n    ${one.at || file}\n    ${one.text}`);
    for (const one of unable) say(`  could not run: ${one.name}\n    ${one.text}`);
  }
  const sum = (count) => results.reduce((total, result) => total + count(result), 0);
  const counts = [
    sum(({ red }) => red.length),
    sum(({ green }) => green),
    sum(({ unable }) => unable.length),
  ];
  say(`\nAt ${name}: ${counts[0]} red, ${counts[1]} green, ${counts[2]} could not run`);
  const nothingRed = results.filter(({ red }) => red.length === 0);
  if (nothingRed.length > 0)
    say(`No assertion was red there in:\n${nothingRed.map(({ file }) => `  ${file}`).join('\n')}`);
  return nothingRed.length === 0 && results.length > 0 ? 0 : 1;
}
