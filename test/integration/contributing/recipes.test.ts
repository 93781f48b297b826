import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { patience } from '../../support/patience.ts';
import { readRecipe, writeFilesOf } from '../../support/recipe.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'docs/recipes');
const recipes = readdirSync(folder).map((name) => readRecipe(readFileSync(join(folder, name), 'utf8')));

/** A copy of the checkout that has its packages, and is neither installed nor compiled again by npm. */
function checkout(): { readonly dir: string; readonly run: (script: string) => Promise<void> } {
  const dir = join(scratchDir(), 'checkout');
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const path of list.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(join(dir, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(dir, path));
  }
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  const bin = join(dirname(dir), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npm'), npm);
  chmodSync(join(bin, 'npm'), 0o755);
  const { PATH, CI, HOME } = process.env;
  const env = { PATH: `${bin}${delimiter}${dirname(process.execPath)}${delimiter}${PATH}`, CI, HOME };
  return {
    dir,
    async run(script) {
      try {
        await promisify(execFile)('sh', ['-ec', script], { cwd: dir, env });
      } catch (error) {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
        throw new Error(`${script}${stdout}${stderr}`, { cause: error });
      }
    },
  };
}

const tsc = 'tsc --noEmit --incremental --tsBuildInfoFile .tsbuildinfo';

// All recipes are followed in one copy, and nothing is edited once the first command runs: format and check look at the
// whole tree, so one pass serves them all.
const npm = `#!/bin/sh -e
PATH="$PWD/node_modules/.bin:$PATH"
once() { [ -e ".done-$1" ] || { "$1"; touch ".done-$1"; }; }
format() { biome check --write .; }
check() { ${tsc}; oxlint --type-aware -c oxlint.config.mjs; biome check .; knip; }
case "$*" in
  'run format') once format ;;
  'run check') once check ;;
  'test -- '*) shift 2; vitest run "$@" ;;
  'run --silent sentry -- '*) shift 4; tsx src/main.ts "$@" ;;
  *) echo "no recipe needs npm $*" >&2; exit 1 ;;
esac
`;

const { dir, run } = checkout();
beforeAll(() => recipes.forEach((recipe) => writeFilesOf(recipe, dir)));

test('there are recipes', () => {
  expect(recipes.map(({ title }) => title).toSorted()).toEqual([
    'Add a kind of system',
    'Add a tool',
    'Add an alert source',
    'Write a runbook',
  ]);
});

test.each(recipes.map((recipe) => [recipe.title, recipe] as const))(
  '%s: works as it is printed',
  async (_, { steps }) => {
    const scripts = steps.flatMap((step) => (step.kind === 'run' ? [step.script] : []));
    expect(scripts).not.toEqual([]);
    for (const script of scripts) await run(script);
  },
  240_000 * patience,
);

test(
  'the compiler names the part that a kind is left without',
  async () => {
    const declared =
      /interface TargetKind<[^{]*\{([\s\S]*?)^\}/m.exec(source('src/targets/kind.ts'))?.[1] ?? '';
    const parts = [...declared.matchAll(/^ {2}(?:readonly )?(\w+)[(:]/gm)].map(([, part = '']) => part);
    expect(parts).toEqual(expect.arrayContaining(['name', 'connect', 'doctor', 'advise', 'tools']));
    const whole = source('src/targets/redis/kind.ts');
    const variant = (part: string): string => join(dir, `src/targets/redis/without-${part}.ts`);
    for (const part of parts) {
      const without = whole.replace(
        new RegExp(`^ {2}(?:async )?${part}[(:,][\\s\\S]*?(?=^ {2}\\w|^\\}\\);)`, 'm'),
        '',
      );
      expect([part, without.length]).not.toEqual([part, whole.length]);
      writeFileSync(variant(part), without);
    }
    const said = await run(`node_modules/.bin/${tsc}`).then(
      () => '',
      (error: Error) => error.message,
    );
    for (const part of parts) {
      expect(said).toMatch(new RegExp(`without-${part}\\.ts.*(?:\\n .*)*Property '${part}' is missing`));
      rmSync(variant(part));
    }
  },
  240_000 * patience,
);

const source = (path: string): string => readFileSync(join(dir, path), 'utf8');
