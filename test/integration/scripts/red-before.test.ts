import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { scratchDir } from '../../support/scratch-dir.ts';
import { checkout } from '../../support/spawn-holder.ts';

/** A repository in small: its first commit adds wrongly and has no `double`. */
let root: string;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
    cwd: root,
    encoding: 'utf8',
  });

const truth = (name: string, from: string, body: string): void =>
  write(
    `test/integration/truth/${name}.test.ts`,
    `import { expect, test } from 'vitest';\nimport * as code from '../../../src/${from}.ts';\n${body}\n`,
  );

function redBefore(...args: readonly string[]) {
  const run = spawnSync(join(checkout, 'scripts', 'red-before'), args, { cwd: root, encoding: 'utf8' });
  return { code: run.status, said: run.stdout };
}

beforeAll(() => {
  root = join(scratchDir(), 'small');
  mkdirSync(root);
  write('.gitignore', 'node_modules\n');
  write('package.json', '{"type":"module"}');
  write('src/sum.ts', 'export const sum = (a: number, b: number): number => a - b;\n');
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'wrong');
  write('src/sum.ts', 'export const sum = (a: number, b: number): number => a + b;\n');
  write('src/double.ts', 'export const double = (a: number): number => 2 * a;\n');
  // Laid over the old code as it is, committed or not.
  truth(
    'sum',
    'sum',
    `test('two and two', () => {\n  expect(code.sum(2, 2)).toBe(4);\n});\ntest('with nothing', () => expect(code.sum(2, 0)).toBe(2));`,
  );
  truth('double', 'double', `test('of two', () => expect(code.double(2)).toBe(4));`);
});

test('each assertion that was red is printed with its place and what it saw', () => {
  const { code, said } = redBefore('HEAD', 'test/integration/truth/sum.test.ts');
  expect(said).toContain(
    'red: two and two\n    test/integration/truth/sum.test.ts:4\n    expected +0 to be 4',
  );
  expect(said).not.toContain('with nothing');
  expect(said).toMatch(/At [0-9a-f]{7,}: 1 red, 1 green, 0 not there yet, 0 failed without an assertion/);
  expect(code).toBe(0);
});

test('without names all of the truth is tried; what is new is laid beside the old code', () => {
  const { code, said } = redBefore('HEAD');
  expect(said).toMatch(/does not have, laid beside it for those:\n {2}src\/double\.ts\n/);
  expect(said).toMatch(/1 red, 2 green, 0 not there yet, 0 failed without an assertion/);
  expect(said).toContain('No assertion was red there in:\n  test/integration/truth/double.test.ts');
  expect(code).toBe(1);
});

test.each([
  ['a module', `await import('../../../src/never${'.ts'}');`],
  ['an export', `(code as unknown as { later(): void }).later();`],
])('what needs %s that is not there is no red assertion, and says so apart', (_what, body) => {
  truth('later', 'sum', `test('of later', async () => { ${body} });`);
  const { code, said } = redBefore('HEAD', 'test/integration/truth/later.test.ts');
  expect(said).toMatch(/not there yet: of later\n/);
  expect(said).not.toMatch(/red: /);
  expect(said).toContain('not there yet:\n  test/integration/truth/later.test.ts');
  expect(code).toBe(1);
  rmSync(join(root, 'test/integration/truth/later.test.ts'));
});

test('what fails otherwise is neither', () => {
  truth('odd', 'sum', `test('of oddity', () => { throw new Error(String(code.sum(1, 1))); });`);
  const { code, said } = redBefore('HEAD', 'test/integration/truth/odd.test.ts');
  expect(said).toMatch(/failed without an assertion: of oddity\n\s+Error: 0/);
  expect(said).toMatch(/0 red, 0 green, 0 not there yet, 1 failed/);
  expect(code).toBe(1);
  rmSync(join(root, 'test/integration/truth/odd.test.ts'));
});

test('a file that was green already is named; nothing of the trial stays', () => {
  truth('green', 'sum', `test('of nothing', () => expect(code.sum(0, 0)).toBe(0));`);
  const { code, said } = redBefore('HEAD', 'test/integration/truth/green.test.ts');
  expect(said).toContain('No assertion was red there in:\n  test/integration/truth/green.test.ts');
  expect(code).toBe(1);
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
});
