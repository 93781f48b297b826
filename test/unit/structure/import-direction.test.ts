import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** The import direction, as in docs/architecture.md: who may import whom, besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  screen: ['domain'],
  record: ['domain', 'screen'],
  llm: ['domain', 'screen'],
  memory: ['domain', 'screen'],
  security: ['domain', 'screen'],
  tools: ['domain', 'screen', 'memory', 'security', 'record'],
  approvals: ['domain', 'screen', 'security', 'record'],
  gate: ['domain', 'screen', 'tools', 'approvals', 'security', 'memory', 'record'],
  agents: ['domain', 'screen', 'gate', 'llm', 'memory', 'security', 'record'],
  investigation: ['domain', 'screen', 'agents', 'gate', 'approvals', 'memory', 'security', 'record'],
  evaluation: [
    'domain',
    'screen',
    'investigation',
    'agents',
    'gate',
    'tools',
    'approvals',
    'llm',
    'memory',
    'security',
    'record',
  ],
  ingest: ['domain', 'screen', 'investigation', 'security', 'record'],
  http: ['domain', 'screen', 'ingest', 'approvals', 'memory', 'security', 'record'],
  slack: ['domain', 'screen', 'gate', 'ingest', 'investigation', 'approvals', 'memory', 'security', 'record'],
  mcp: ['domain', 'screen', 'gate', 'tools', 'ingest', 'investigation', 'memory', 'security', 'record'],
};
const areas = [...Object.keys(mayImport), 'infra', 'app', 'cli'];

/** A vendor's packages, and the only folders that may import them. */
const homes: Readonly<Record<string, readonly string[]>> = {
  '@slack/bolt': ['slack'],
  '@slack/web-api/dist/x.js': ['slack'],
  dockerode: ['infra/docker', 'infra/podman'],
  '@kubernetes/client-node': ['infra/kubernetes'],
  postgres: ['infra/db', 'infra/postgres'],
  'postgres/types': ['infra/db', 'infra/postgres'],
  chromadb: ['infra/chroma'],
  '@anthropic-ai/sdk': ['llm'],
  '@anthropic-ai/sdk/resources/messages': ['llm'],
  '@dbos-inc/dbos-sdk': ['infra/dbos'],
};
const infraFolders =
  'db dbos chroma postgres metrics log embeddings process host docker podman kubernetes not-there-yet'.split(
    ' ',
  );

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

function filesOf(area: string): readonly string[] {
  if (area === 'infra') return infraFolders.flatMap((folder) => filesOf(`infra/${folder}`));
  return [`src/${area}/probe.ts`, `src/${area}/deeper/probe.ts`, `src/${area}/deeper/still/probe.ts`];
}

for (const [area, allowed] of Object.entries(mayImport)) {
  for (const file of filesOf(area))
    for (const other of areas.filter((each) => each !== area))
      for (const target of [`${other}/thing.ts`, `${other}/inner/thing.ts`, `${other}/ports.ts`])
        for (const specifier of specifiers(file, target))
          for (const code of forms(specifier)) add(file, code, allowed.includes(other));
}
for (const file of filesOf('infra')) {
  const open = ['domain', 'screen', 'infra'];
  for (const other of areas)
    for (const [target, isPort] of [
      [`${other}/thing.ts`, false],
      [`${other}/inner/thing.ts`, false],
      [`${other}/not-ports.ts`, false],
      [`${other}/ports/thing.ts`, false],
      [`${other}/ports.ts`, true],
      [`${other}/inner/ports.ts`, true],
    ] as const)
      for (const specifier of specifiers(file, target))
        for (const code of forms(specifier)) add(file, code, isPort || open.includes(other));
}
for (const area of ['app', 'cli'])
  for (const file of filesOf(area))
    for (const other of areas.filter((each) => each !== area && each !== 'cli'))
      for (const specifier of specifiers(file, `${other}/thing.ts`))
        for (const code of forms(specifier)) add(file, code, true);

const everyPlace = areas.flatMap((area) =>
  area === 'infra' ? infraFolders.map((folder) => `infra/${folder}`) : [area],
);
for (const [packageName, places] of Object.entries(homes)) {
  for (const place of everyPlace)
    for (const file of filesOf(place))
      for (const code of forms(packageName)) add(file, code, places.includes(place));
  for (const code of forms(packageName)) add('src/probe.ts', code, false);
}
for (const place of everyPlace)
  for (const file of filesOf(place))
    for (const outside of ['playground/slack/main.ts', 'bench/main.ts', 'evals/main.ts', 'src/main.ts'])
      for (const code of forms(relative(dirname(file), outside))) add(file, code, false);
// Detours that read like a neighbour.
for (const detour of ['./inner/../../tools/thing.ts', '../record/../tools/thing.ts'])
  for (const code of forms(detour)) add('src/record/probe.ts', code, false);
// domain is pure: no package but zod, nothing of Node.
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
  copyFileSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
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
  const run = spawnSync(process.execPath, [program, '--format=json', '.'], {
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
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(areas).toEqual(expect.arrayContaining(folders.map((entry) => entry.name)));
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
    const run = spawnSync(process.execPath, [program, '--format=json', 'src'], {
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
