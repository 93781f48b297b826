// `npm run numbers`: how big the house is, over all of its folders together, so that moving is not shrinking.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const rooms = ['src', 'evals', 'bench', 'playground', 'test', 'scripts'];
const own = (room) => room !== 'test' && room !== 'scripts';

const git = spawnSync('git', ['ls-files', '-z', ...rooms], { cwd: root, encoding: 'utf8' });
const files = git.stdout
  .split('\0')
  .filter((path) => /\.(?:ts|mjs|js|css)$/.test(path))
  .map((path) => ({ path, room: path.split('/')[0], text: readFileSync(`${root}${path}`, 'utf8') }))
  .map((file) => ({ ...file, lines: file.text.split('\n').length - 1 }));

/** Lengths of all functions, as the linter's own rule counts them when every function is too long for it. */
function functionLengths() {
  const folder = mkdtempSync(join(tmpdir(), 'sentry-numbers-'));
  const config = join(folder, 'oxlint.json');
  const rules = { 'max-lines-per-function': ['error', { max: 0 }] };
  writeFileSync(config, JSON.stringify({ plugins: [], categories: { correctness: 'off' }, rules }));
  const lint = spawnSync(
    process.execPath,
    ['node_modules/oxlint/bin/oxlint', '-c', config, '--format=json', ...rooms],
    { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 },
  );
  rmSync(folder, { recursive: true });
  return JSON.parse(lint.stdout).diagnostics.map(({ filename, message }) => ({
    room: filename.split('/')[0],
    path: filename,
    name: /[`'"]([^`'"]+)[`'"]/.exec(message)?.[1] ?? '(no name)',
    lines: Number(/\((\d+)\)/.exec(message)?.[1] ?? 0),
  }));
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
const spread = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  return `${at(sorted, 0.5)} / ${at(sorted, 0.9)} / ${sorted.at(-1) ?? 0}`;
};

const functions = functionLengths();
const row = (name, of, inside) => {
  const exported = of.flatMap(({ text }) => [
    ...text.matchAll(/(\*\/\n)?^export (?:async )?(?:function|const|interface|type|class) /gm),
  ]);
  const documented = exported.filter(([, doc]) => doc !== undefined).length;
  return {
    room: name,
    files: of.length,
    lines: of.reduce((sum, { lines }) => sum + lines, 0),
    'lines a file (median / p90 / max)': spread(of.map(({ lines }) => lines)),
    'lines a function (median / p90 / max)': spread(functions.filter(inside).map(({ lines }) => lines)),
    'exports with a doc':
      exported.length === 0 ? '' : `${Math.round((100 * documented) / exported.length)} %`,
  };
};

console.table([
  ...rooms.map((room) =>
    row(
      room,
      files.filter((file) => file.room === room),
      (fn) => fn.room === room,
    ),
  ),
  row(
    'src + evals + bench + playground',
    files.filter(({ room }) => own(room)),
    ({ room }) => own(room),
  ),
]);
console.log('The longest functions:');
for (const { lines, name, path } of functions
  .filter(({ room }) => own(room))
  .toSorted((a, b) => b.lines - a.lines)
  .slice(0, 10))
  console.log(`${String(lines).padStart(5)}  ${name}  ${path}`);
