import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchDir } from '../../support/scratch-dir.ts';
import { checkout } from '../../support/spawn-holder.ts';

/** A checkout in small: our scripts, one source file, and the real compiler as its only dependency, from a folder. */
function smallCheckout(): string {
  const root = join(scratchDir(), 'checkout');
  mkdirSync(join(root, 'src', 'prompts'), { recursive: true });
  cpSync(join(checkout, 'scripts'), join(root, 'scripts'), { recursive: true });
  for (const file of ['tsconfig.json', 'tsconfig.build.json']) cpSync(join(checkout, file), join(root, file));
  const compiler = join(root, 'vendor', 'typescript');
  mkdirSync(join(compiler, 'bin'), { recursive: true });
  const tsc = join(checkout, 'node_modules', 'typescript', 'bin', 'tsc');
  // The one type package the configuration names is not installed here.
  const wrapper = `import { spawnSync } from 'node:child_process';
    const run = spawnSync(process.execPath, [${JSON.stringify(tsc)}, ...process.argv.slice(2), '--types', ''], { stdio: 'inherit' });
    process.exit(run.status);`;
  writeFileSync(join(compiler, 'bin', 'tsc'), wrapper);
  writeFileSync(join(compiler, 'package.json'), '{"name":"typescript","version":"7.0.0","type":"module"}');
  const manifest = { name: 'small', version: '1.0.0', type: 'module', engines: { node: '>=20.0' } };
  const dependencies = { typescript: 'file:vendor/typescript' };
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...manifest, dependencies }));
  const packages = {
    '': { name: 'small', version: '1.0.0', dependencies },
    'node_modules/typescript': { resolved: 'vendor/typescript', link: true },
    'vendor/typescript': { version: '7.0.0' },
  };
  const lock = { name: 'small', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock));
  writeFileSync(join(root, 'src', 'prompts', 'hello.md'), 'hello');
  writeMain(root, 'first');
  return root;
}

function writeMain(root: string, word: string): void {
  const source = `
    declare const process: { argv: string[]; exitCode: number; pid: number };
    declare const console: { log(text: string): void };
    declare function setTimeout(work: () => void, ms: number): void;
    const args: string[] = process.argv.slice(2);
    console.log('${word} ' + process.pid + ' ' + args.join(' '));
    process.exitCode = 7;
    if (args[0] === 'wait') setTimeout(() => undefined, 60_000);
    export {};`;
  writeFileSync(join(root, 'src', 'main.ts'), source);
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

function begin(root: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['scripts/bootstrap.mjs', ...args], { cwd: root });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    stderr += text.toString();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

function start(root: string, ...args: readonly string[]): Promise<Ended> {
  return begin(root, ...args).ended;
}

test('a fresh checkout is installed, compiled and run; stdout and exit code are the program’s own', async () => {
  const root = smallCheckout();
  const first = begin(root, 'why', '42');
  const ended = await first.ended;
  expect(ended.stderr).toMatch(/Installing[\s\S]*Compiled/);
  expect(ended).toMatchObject({ code: 7, stdout: `first ${first.child.pid} why 42\n` });
  expect(readFileSync(join(root, 'dist', 'src', 'prompts', 'hello.md'), 'utf8')).toBe('hello');
});

test('the second start does nothing but run', async () => {
  const root = smallCheckout();
  await start(root);
  const ended = await start(root);
  expect(ended).toMatchObject({ code: 7, stderr: '' });
});

test('two first starts at once both run what one of them has installed', async () => {
  const root = smallCheckout();
  const both = await Promise.all([start(root), start(root)]);
  expect(both.map(({ code }) => code)).toEqual([7, 7]);
  const said = both.map(({ stderr }) => stderr).join('');
  expect(said.match(/Installing/g)).toHaveLength(1);
  expect(said).toContain('waiting for it');
});

test('a start that was killed while it installed does not stand in the way of the next', async () => {
  const root = smallCheckout();
  const killed = begin(root);
  await expect.poll(() => killed.stderr()).toContain('Installing');
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect((await start(root)).code).toBe(7);
});

test('a changed source is compiled again, a removed one leaves dist, and what does not compile is not run', async () => {
  const root = smallCheckout();
  writeFileSync(join(root, 'src', 'old.ts'), 'export {};');
  await start(root);
  expect(existsSync(join(root, 'dist', 'src', 'old.js'))).toBe(true);
  writeMain(root, 'second');
  rmSync(join(root, 'src', 'old.ts'));
  expect((await start(root)).stdout).toContain('second');
  expect(existsSync(join(root, 'dist', 'src', 'old.js'))).toBe(false);
  writeFileSync(join(root, 'src', 'bad.ts'), 'export const n: number = "text";');
  const bad = await start(root);
  expect(bad).toMatchObject({ code: 1, stdout: '' });
  expect(bad.stderr).toContain('do not compile');
});

test('a changed lockfile is installed again', async () => {
  const root = smallCheckout();
  await start(root);
  const path = join(root, 'package-lock.json');
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('7.0.0', '7.0.1'));
  writeFileSync(
    join(root, 'vendor', 'typescript', 'package.json'),
    '{"name":"typescript","version":"7.0.1","type":"module"}',
  );
  const again = await start(root);
  expect(again.stderr).toContain('Installing');
  expect(again.code).toBe(7);
});

test('a signal reaches the program, which is the process that was started', async () => {
  const root = smallCheckout();
  const running = begin(root, 'wait');
  await expect.poll(() => running.stdout()).toContain(`first ${running.child.pid} wait`);
  running.child.kill('SIGINT');
  expect((await running.ended).signal).toBe('SIGINT');
});

test('a Node that is too old is told what is needed', async () => {
  const root = smallCheckout();
  const path = join(root, 'package.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('>=20.0', '>=99.1'));
  const ended = await start(root);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(`Sentry needs Node 99.1 or newer, this is ${process.versions.node}`);
});
