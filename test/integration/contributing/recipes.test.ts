import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { patience } from '../../support/patience.ts';
import { followRecipe, readRecipes } from '../../support/recipe.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const root = join(import.meta.dirname, '../../..');
const recipes = readRecipes(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'));

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

const npm = `#!/bin/sh -e
PATH="$PWD/node_modules/.bin:$PATH"
case "$*" in
  'run format') biome check --write . ;;
  'run check') tsc --noEmit; oxlint --type-aware -c oxlint.config.mjs; biome check .; knip ;;
  'test -- '*) shift 2; vitest run "$@" ;;
  'run --silent sentry -- '*) shift 4; tsx src/main.ts "$@" ;;
  *) echo "no recipe needs npm $*" >&2; exit 1 ;;
esac
`;

test('there are recipes', () => {
  expect(recipes.map(({ title }) => title)).toEqual(
    expect.arrayContaining(['Add an alert source', 'Add a tool', 'Write a runbook']),
  );
});

test.each(recipes.map((recipe) => [recipe.title, recipe] as const))(
  '%s: works as it is printed',
  async (_, recipe) => {
    expect(recipe.steps.some(({ kind }) => kind === 'run')).toBe(true);
    const { dir, run } = checkout();
    await followRecipe(recipe, dir, run);
  },
  240_000 * patience,
);
