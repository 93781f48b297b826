// `scripts/red-before <commit> [test file …]`: runs today's tests of test/integration/truth, or those named, against the
// code of a commit, and prints each assertion that was red there. What failed since the code it stands on is not there yet, or
// in any other way than by an assertion, is no red assertion and stands apart. Exits 1 when a file has none: then it shows
// nothing that was mended since. Run it in a checkout that is installed; what is not committed yet is tried as well.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const truth = join('test', 'integration', 'truth');
/** Of today, over the commit's own: the tests, what they stand on, and the dependencies they run with. */
const laidOver = [truth, join('test', 'support'), 'vitest.config.ts', 'package-lock.json'];

/** What the code of then has not: a module, an export, a table, a column, a function. */
const NOT_THERE =
  /Cannot find (?:module|package)|Failed to (?:load|resolve)|does not provide an export|is not a (?:function|constructor)|(?:relation|column|function|type) "?[^"]*"?.{0,60}does not exist|unknown (?:option|command)/;

const WHOLE = 'the whole file';
/** Each file in a process of its own: what loops for ever in code of then ends nothing but its own trial. */
const MOST_MS = 20 * 60_000;
const AT_ONCE = 3;

const [commit, ...named] = process.argv.slice(2);
const root = git(process.cwd(), 'rev-parse', '--show-toplevel');
if (commit === undefined) {
  process.stderr.write('Usage: scripts/red-before <commit> [test file …]\n');
  process.exit(2);
}
const files = named.length > 0 ? named : testsIn(truth);
const before = join(mkdtempSync(join(tmpdir(), 'red-before-')), 'checkout');
git(root, 'worktree', 'add', '--quiet', '--detach', before, commit);
/** Trials under way, each a process group of its own. */
const running = new Set();
let isStopped = false;
// The trials end, and what was made is removed below.
process.on('SIGINT', () => {
  isStopped = true;
  for (const pid of running) process.kill(-pid, 'SIGKILL');
});
try {
  prepare();
  const results = await tryAll(files);
  const unloaded = results.filter(isUnloaded).map(({ file }) => file);
  const added = layBeside(sourcesIn([...laidOver, ...unloaded]));
  const again = added.length === 0 ? [] : await tryAll(unloaded);
  const final = results.map((result) => again.find(({ file }) => file === result.file) ?? result);
  process.exitCode = print(final, git(root, 'rev-parse', '--short', commit), added);
} finally {
  await endWhatIsLeft();
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

function sourcesIn(paths) {
  return paths.flatMap((path) => {
    if (path.endsWith('.ts')) return [path];
    if (!existsSync(join(root, path)) || path.includes('.')) return [];
    return readdirSync(join(root, path), { recursive: true })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(path, name));
  });
}

/**
 * Modules that these import and the commit does not have at all: with them beside it, files can be loaded that else could not,
 * and what they say of the rest is tried. The commit's own code imports none of them, so it does what it did.
 *
 * @returns {string[]} their paths
 */
function layBeside(sources) {
  const added = new Set();
  const open = [...sources];
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    const text = existsSync(join(root, source)) ? readFileSync(join(root, source), 'utf8') : '';
    for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)) {
      const path = join(dirname(source), specifier);
      if (!/^(?:src|playground|bench|evals)\//.test(path)) continue;
      if (existsSync(join(before, path)) || !existsSync(join(root, path))) continue;
      mkdirSync(dirname(join(before, path)), { recursive: true });
      cpSync(join(root, path), join(before, path));
      added.add(path);
      open.push(path);
    }
  }
  return [...added].sort((a, b) => (a < b ? -1 : 1));
}

/** @returns {Promise<{ file: string, red: object[], green: number, missing: object[], other: object[] }[]>} one for each file */
async function tryAll(list) {
  const open = [...list];
  const results = new Map();
  const work = async () => {
    for (let file = open.shift(); file !== undefined && !isStopped; file = open.shift())
      results.set(file, { file, ...sorted(await tryOne(file)) });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (isStopped) throw new Error('Interrupted.');
  return list.map((file) => results.get(file));
}

/** What vitest says of one file; a message alone where it said nothing. */
async function tryOne(file) {
  const output = join(mkdtempSync(join(before, '..', 'result-')), 'result.json');
  const vitest = join(before, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--retry=0', '--reporter=json', `--outputFile=${output}`, file];
  // Its own words are about a run that is meant to fail.
  const run = spawn(process.execPath, args, { cwd: before, stdio: 'ignore', detached: true });
  running.add(run.pid);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.kill(-run.pid, 'SIGKILL');
  }, MOST_MS);
  await once(run, 'exit');
  clearTimeout(timer);
  running.delete(run.pid);
  if (isLate) return { message: `It did not end within ${MOST_MS / 60_000} minutes.` };
  if (!existsSync(output)) return { message: 'It ended without a result.' };
  return JSON.parse(readFileSync(output, 'utf8')).testResults[0];
}

/** Code of then may leave processes behind, which is what some of these tests are about; a supervisor among them starts more. */
async function endWhatIsLeft() {
  for (let tries = 0; tries < 10; tries += 1) {
    const left = leftBehind();
    if (left.length === 0) return;
    for (const pid of left) endIfThere(pid);
    await sleep(200);
  }
}

/** Whatever runs out of the trial's own folder, or in it. */
function leftBehind() {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').flatMap((line) => {
    const pid = Number(/^\s*(\d+)\s/.exec(line)?.[1]);
    const isOurs = line.includes(`${before}/`) || folderOf(pid).startsWith(before);
    return pid > 1 && isOurs ? [pid] : [];
  });
}

/** Where a process runs; empty where that cannot be seen. */
function folderOf(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function endIfThere(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function isUnloaded({ red, green, missing, other }) {
  return red.length + green + other.length === 0 && missing.length === 1 && missing[0].name === WHOLE;
}

/**
 * Red is an assertion that failed. What failed in any other way has not been tried; nor has what waited in vain for code that
 * met something it does not know.
 */
function sorted(found) {
  const tests = found?.assertionResults ?? [];
  const red = [];
  const missing = [];
  const other = [];
  for (const { status, fullName, failureMessages } of tests) {
    if (status === 'passed') continue;
    const text = (failureMessages ?? []).join('\n');
    const one = { name: fullName, at: placeOf(text), text: shortened(text) || status };
    listFor(text).push(one);
  }
  if (tests.length === 0) {
    const text = found?.message ?? '';
    const whole = { name: WHOLE, at: '', text: shortened(text) || 'no test in it ran' };
    (NOT_THERE.test(text) ? missing : other).push(whole);
  }
  return { red, missing, other, green: tests.filter(({ status }) => status === 'passed').length };

  function listFor(text) {
    const [words] = text.split(/\n\s+at /);
    if (NOT_THERE.test(words)) return missing;
    return /^AssertionError\b/.test(text) ? red : other;
  }
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
function print(results, name, added) {
  const say = (line) => process.stdout.write(`${line}\n`);
  if (added.length > 0)
    say(
      `\nModules that tests import and ${name} does not have, laid beside it for those:\n${indented(added)}`,
    );
  for (const { file, red, missing, other } of results) {
    if (red.length + missing.length + other.length > 0) say(`\n${file}`);
    for (const one of red) say(`  red: ${one.name}\n    ${one.at || file}\n    ${one.text}`);
    for (const one of missing) say(`  not there yet: ${one.name}\n    ${one.text}`);
    for (const one of other) say(`  failed without an assertion: ${one.name}\n    ${one.text}`);
  }
  const sum = (count) => results.reduce((total, result) => total + count(result), 0);
  say(
    `\nAt ${name}: ${sum(({ red }) => red.length)} red, ${sum(({ green }) => green)} green, ` +
      `${sum(({ missing }) => missing.length)} not there yet, ${sum(({ other }) => other.length)} failed without an assertion`,
  );
  const without = results.filter(({ red }) => red.length === 0);
  const unable = without.filter(({ green, other }) => green === 0 && other.length === 0);
  const shown = (list) => indented(list.map(({ file }) => file));
  if (unable.length > 0)
    say(`Nothing could be tried there, what they test is not there yet:\n${shown(unable)}`);
  const tried = without.filter((result) => !unable.includes(result));
  if (tried.length > 0) say(`No assertion was red there in:\n${shown(tried)}`);
  return without.length === 0 && results.length > 0 ? 0 : 1;
}

function indented(lines) {
  return lines.map((line) => `  ${line}`).join('\n');
}
