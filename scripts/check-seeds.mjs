// `node scripts/check-seeds.mjs [folder]`: holds docs/seeds.md against the checkout, exit code 1 when they disagree.
//
// A row says built: what it names must exist (paths, and test titles in their files). A row says "in work": what it names
// exists and nothing uses it yet. A row says "part N": what it names does not exist yet. So whoever builds it or puts it
// to use has to come back here. And every module that exists is in a row.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..');
const document = 'docs/seeds.md';
/** Folders in which every entry is a module; elsewhere the folder is. */
const entryModules = ['src/safety', 'src/tools/memory'];
const states = /^(?:built|built otherwise|partly, part [2-9]|in work, part [2-9]|part [2-9]|later|not kept)$/;

const problems = [];
const rows = readRows(readFileSync(join(root, document), 'utf8'));
if (rows.length === 0) problems.push(`${document}: no rows`);
for (const row of rows) checkRow(row);
checkIds(rows);
checkModules(rows);

if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n${problems.length} problems in ${document}\n`);
  process.exitCode = 1;
} else {
  const count = (wanted) => rows.filter(({ state }) => wanted.test(state)).length;
  process.stdout.write(
    `${rows.length} promises: ${count(/^built/)} built, ${count(/^partly/)} partly, ${count(/^in work/)} in work, ${count(/^(?:part |later)/)} later, ${count(/^not kept/)} not kept\n`,
  );
}

/** Table rows whose first cell is an id like 004-12. */
function readRows(text) {
  return text.split('\n').flatMap((line, index) => {
    if (!/^\|\s*\d{3}-/.test(line)) return [];
    const cells = line
      .replace(/^\|/, '')
      .replace(/\|\s*$/, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim());
    const [id = '', says = '', state = '', where = '', tests = '', why = ''] = cells;
    return [{ line: index + 1, columns: cells.length, id, says, state, where, tests, why }];
  });
}

function checkRow(row) {
  const wrong = (what) => problems.push(`${document}:${row.line}: ${row.id}: ${what}`);
  if (row.columns !== 6) return wrong(`has ${row.columns} cells, expected 6`);
  if (!/^\d{3}-\d+$/.test(row.id)) wrong('the id must look like 004-12');
  if (row.says === '') wrong('does not say what is promised');
  if (!states.test(row.state)) return wrong(`"${row.state}" is no state`);
  if (/otherwise|not kept/.test(row.state) && row.why.length < 15)
    wrong('differs from the seed without a reason');
  const paths = pathsIn(row.where);
  if (/^(?:part |later)/.test(row.state)) {
    for (const path of paths)
      if (existsSync(join(root, path)) || existsSync(join(root, `${path}.ts`)))
        wrong(`${path} exists: it is built, name its test`);
    if (row.tests !== '') wrong('is not built, so no test can show it');
    return;
  }
  if (row.state === 'not kept') return;
  if (row.state.startsWith('in work')) {
    const there = paths.filter((path) => existsSync(join(root, path)));
    if (there.length === 0) wrong('nothing of it exists: say which part it comes with');
    for (const path of there)
      for (const user of usersOf(path)) wrong(`${path} is in use by ${user}: it is built, name its test`);
    return;
  }
  if (paths.length === 0) wrong('names no place in the code');
  for (const path of paths) if (!existsSync(join(root, path))) wrong(`${path} does not exist`);
  checkTests(row.tests, wrong);
}

function pathsIn(cell) {
  return [...cell.matchAll(/`([\w@./-]+)`/g)].map(([, path]) => path).filter((path) => /[./]/.test(path));
}

/** `file` "title" "title" … */
function checkTests(cell, wrong) {
  const named = [...cell.matchAll(/`([^`]+)`((?:\s*“[^”]+”)*)/g)];
  if (named.length === 0) return wrong('names no test');
  for (const [, file, titles] of named) {
    if (!existsSync(join(root, file))) {
      wrong(`${file} does not exist`);
      continue;
    }
    const found = titlesIn(readFileSync(join(root, file), 'utf8'));
    const wanted = [...titles.matchAll(/“([^”]+)”/g)].map(([, title]) => title);
    if (wanted.length === 0) wrong(`names no test of ${file}`);
    for (const title of wanted) if (!found.has(title)) wrong(`${file} has no test “${title}” that runs`);
  }
}

/** First arguments of test, it and describe (also after `.each(…)`), but for those that are skipped or only planned. */
function titlesIn(source) {
  const call = /([\w.)]+)\s*\(\s*(['"`])((?:\\.|(?!\2)[\s\S])*?)\2\s*,/g;
  const titles = new Set();
  for (const [, callee, , title] of source.matchAll(call)) {
    const name = callee.replace(/\(.*$/, '');
    if (/\.(?:skip|todo|fails)\b/.test(name)) continue;
    if (/(?:^|\.)(?:test|it|describe)(?:\.\w+)*$/.test(name) || callee.endsWith(')'))
      titles.add(title.replace(/\\(.)/g, '$1'));
  }
  return titles;
}

/** Files of src that import something below the path, but for what is in work itself and commands that only try it. */
function usersOf(path) {
  const inWork = rows
    .filter(({ state }) => state.startsWith('in work'))
    .flatMap(({ where }) => pathsIn(where));
  const isBelow = (file, folder) => file === folder || file.startsWith(`${folder}/`);
  return sourceFiles()
    .filter((file) => !file.startsWith('src/cli/') && !inWork.some((folder) => isBelow(file, folder)))
    .filter((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].some(
        ([, specifier]) => isBelow(join(dirname(file), specifier), path),
      ),
    );
}

function sourceFiles() {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${name}`)
    .filter((path) => path.endsWith('.ts'));
}

/** Numbered without gaps or doubles, so that a row that is taken away is missed. */
function checkIds(all) {
  const next = new Map();
  for (const { id, line } of all) {
    const [seed, number] = id.split('-');
    const expected = (next.get(seed) ?? 0) + 1;
    if (Number(number) !== expected)
      problems.push(`${document}:${line}: ${id}: expected ${seed}-${expected}`);
    next.set(seed, Number(number));
  }
}

/** What there is in the code has a row that says which promise it keeps. */
function checkModules(all) {
  const named = all
    .filter(({ state }) => /^(?:built|partly|in work)/.test(state))
    .flatMap(({ where }) => pathsIn(where));
  for (const module of modules())
    if (
      !named.some((path) => path === module || path.startsWith(`${module}/`) || module.startsWith(`${path}/`))
    )
      problems.push(`${document}: ${module} is in no row`);
}

function modules() {
  return [
    ...foldersIn('src').filter((path) => path !== 'src/tools' && path !== 'src/ingest'),
    ...foldersIn('src/ingest'),
    ...foldersIn('src/tools').flatMap((path) => [path, ...foldersIn(path)]),
    ...foldersIn('runbooks'),
    ...entryModules.flatMap(entriesIn),
  ];
}

function entriesIn(folder) {
  const path = join(root, folder);
  return existsSync(path) ? readdirSync(path).map((name) => `${folder}/${name}`) : [];
}

function foldersIn(folder) {
  return entriesIn(folder).filter((path) => statSync(join(root, path)).isDirectory());
}
