import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import table from '../../scripts/lib/import-direction.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');

const rooms: Readonly<Record<string, readonly string[]>> = table.rooms;
const areas = Object.keys(rooms);

/** Specifiers of each vendor's packages, and the only folders that may import them. */
const homes = Object.entries(table.packages).flatMap(([name, places]) =>
  (name.endsWith('/') ? [`${name}sdk`, `${name}sdk/dist/x.js`] : [name, `${name}/types`]).map(
    (specifier) => [specifier, places] as const,
  ),
);
const folders = [
  ...areas,
  ...Object.values(table.packages)
    .flat()
    .filter((folder) => folder.includes('/')),
  'infra/not-there-yet',
  'targets/not-there-yet',
];

/** Whether a file of a room may import another room's file, by the table. */
function mayImport(room: string, path: string): boolean {
  const other = path.split('/')[0] ?? '';
  if (table.registries.includes(other) && path.split('/').length > 2) return false;
  return (rooms[room] ?? []).some(
    (entry) =>
      entry === '*' ||
      entry === other ||
      path.startsWith(`${entry}/`) ||
      (entry === '*/ports.ts' && path.endsWith('/ports.ts')),
  );
}

interface Case {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly allowed: boolean;
}

const cases: Case[] = [];
const sources = new Map<string, string[]>();

function add(file: string, code: string, allowed: boolean): void {
  const lines = sources.get(file) ?? [];
  sources.set(file, lines);
  lines.push(code);
  cases.push({ file, line: lines.length, code, allowed });
}

let names = 0;

/** Every way to write an import, under a name of its own: a file that declares one twice is not linted at all. */
function forms(specifier: string): readonly string[] {
  const name = (): string => `n${(names += 1)}`;
  return [
    `import { a as ${name()} } from '${specifier}';`,
    `import type { A as ${name()} } from '${specifier}';`,
    `import { type B as ${name()} } from '${specifier}';`,
    `import '${specifier}';`,
    `export { c as ${name()} } from '${specifier}';`,
    `const ${name()} = await import('${specifier}');`,
  ];
}

/** The specifier of `to` (from `src/`) in a file of `from`; `straight` or with a needless `./` before it. */
function specifiers(from: string, to: string): readonly string[] {
  const path = relative(dirname(from), join('src', to));
  return path.startsWith('.') ? [path, `./${path}`] : [`./${path}`];
}

const filesOf = (folder: string): readonly string[] =>
  ['probe.ts', 'deeper/probe.ts', 'deeper/still/probe.ts'].map((file) => `src/${folder}/${file}`);

for (const folder of folders) {
  const room = folder.split('/')[0] ?? '';
  for (const file of filesOf(folder)) {
    for (const other of areas.filter((each) => each !== room)) {
      // Only the program file and the commands import the composition; a lint rule of directions cannot tell them apart.
      if (rooms[room]?.includes('*') && other === 'cli') continue;
      for (const name of [
        'thing.ts',
        'inner/thing.ts',
        'ports.ts',
        'not-ports.ts',
        'ports/thing.ts',
        'process/thing.ts',
      ])
        for (const specifier of specifiers(file, `${other}/${name}`))
          for (const code of forms(specifier)) add(file, code, mayImport(room, `${other}/${name}`));
    }
    for (const [specifier, places] of homes)
      for (const code of forms(specifier)) add(file, code, places.includes(folder));
    for (const outside of [
      'playground/slack/main.ts',
      'bench/main.ts',
      'evals/commands/evals.ts',
      'src/main.ts',
    ])
      for (const code of forms(relative(dirname(file), outside))) add(file, code, false);
  }
}
for (const [specifier] of homes) for (const code of forms(specifier)) add('src/probe.ts', code, false);
for (const code of forms('../evals/commands/evals.ts')) add('src/probe.ts', code, true);
for (const code of forms('../evals/score/score.ts')) add('src/probe.ts', code, false);
// Detours that read like a neighbour.
for (const detour of ['./inner/../../tools/thing.ts', '../record/../tools/thing.ts'])
  for (const code of forms(detour)) add('src/record/probe.ts', code, false);
// core is pure: no package but zod, nothing of Node.
for (const code of forms('zod')) add('src/core/probe.ts', code, true);
for (const name of ['node:fs', 'pino', 'yaml', 'zod-to-json-schema'])
  for (const code of forms(name)) add('src/core/probe.ts', code, false);
for (const code of forms('./neighbour.ts')) add('src/core/probe.ts', code, true);

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

let folder: string;
let diagnostics: readonly Diagnostic[];

/** Runs the linter over a folder that has our configuration and the files of the cases. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sentry-lint-'));
  mkdirSync(join(folder, 'scripts/lib'), { recursive: true });
  for (const file of ['oxlint.config.mjs', 'scripts/lib/import-direction.json'])
    copyFileSync(join(root, file), join(folder, file));
  for (const [file, lines] of sources) write(file, lines);
  diagnostics = lint();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, lines: readonly string[]): void {
  mkdirSync(join(folder, dirname(file)), { recursive: true });
  writeFileSync(join(folder, file), `${lines.join('\n')}\n`);
}

function lint(): readonly Diagnostic[] {
  const program = join(root, 'node_modules/oxlint/bin/oxlint');
  const run = spawnSync(process.execPath, [program, '-c', 'oxlint.config.mjs', '--format=json', '.'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  if (!run.stdout.startsWith('{')) throw new Error(`oxlint did not run: ${run.stdout}${run.stderr}`);
  return (JSON.parse(run.stdout) as { diagnostics: readonly Diagnostic[] }).diagnostics;
}

function flagged(code: string): ReadonlySet<string> {
  const found = diagnostics.filter((each) => each.code === code);
  return new Set(
    found.flatMap(({ filename, labels }) => labels.map(({ span }) => `${filename}:${span.line}`)),
  );
}

const where = ({ file, line, code }: Case): string => `${file}:${line} ${code}`;

describe('the import direction', () => {
  test('has a row for every folder of src', () => {
    const entries = readdirSync(join(root, 'src'), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    expect(areas).toEqual(expect.arrayContaining(names));
  });

  test('is what docs/architecture.md prints', () => {
    const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const section = text.split(/^## /m).find((one) => one.startsWith('Layout and import direction')) ?? '';
    const printed = [...section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)];
    const expected = Object.entries(rooms).map(([room, allowed]) => [
      room,
      allowed.map((each) => (each === '*' ? 'everything' : `\`${each}\``)).join(', ') || 'nothing but zod',
    ]);
    expect(printed.map(([, room, allowed]) => [room, allowed])).toEqual(expected);
  });

  test('is a lint error in every row of the table, however it is written', () => {
    const found = flagged('eslint(no-restricted-imports)');
    const missed = cases.filter((each) => !each.allowed && !found.has(`${each.file}:${each.line}`));
    expect(cases.filter((each) => !each.allowed).length).toBeGreaterThan(5_000);
    expect(missed.slice(0, 20).map(where)).toEqual([]);
  });

  test('lets everything through that the table allows', () => {
    const found = flagged('eslint(no-restricted-imports)');
    const wrong = cases.filter((each) => each.allowed && found.has(`${each.file}:${each.line}`));
    expect(cases.filter((each) => each.allowed).length).toBeGreaterThan(1_000);
    expect(wrong.slice(0, 20).map(where)).toEqual([]);
  });

  test('cannot be got round by require or by a type written as import()', () => {
    write('src/core/round.ts', [
      "export const a = require('../tools/thing.ts');",
      "export type B = import('../tools/thing.ts').B;",
    ]);
    diagnostics = lint();
    expect(flagged('typescript(no-require-imports)')).toContain('src/core/round.ts:1');
    expect(flagged('typescript(consistent-type-imports)')).toContain('src/core/round.ts:2');
  });

  test('holds in the code as it is', () => {
    const program = join(root, 'node_modules/oxlint/bin/oxlint');
    const run = spawnSync(process.execPath, [program, '-c', 'oxlint.config.mjs', '--format=json', 'src'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    });
    const broken = (JSON.parse(run.stdout) as { diagnostics: readonly Diagnostic[] }).diagnostics.filter(
      (each) => /no-restricted-imports|no-require-imports|consistent-type-imports/.test(each.code),
    );
    expect(broken.map(({ filename, labels }) => `${filename}:${labels[0]?.span.line ?? 0}`)).toEqual([]);
  });
});
