import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRepositories } from '../../../src/code/open-repositories.ts';
import { codeCaller, textOf } from '../../support/code-scene.ts';
import { createGitRepository, type GitRepository } from '../../support/git-repository.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const caller = (path: string) =>
  codeCaller(
    openRepositories([{ name: 'shop-api', of: ['shop-api'], branch: null, at: { kind: 'local', path } }]),
  );

/** A program that leaves a mark when anybody runs it. */
function trap(): { readonly program: string; readonly mark: string } {
  const dir = scratchDir();
  const [program, mark] = [join(dir, 'trap'), join(dir, 'it-ran')];
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\necho trapped\n`);
  chmodSync(program, 0o755);
  return { program, mark };
}

function twoVersions(files: Parameters<GitRepository['write']>[0] = {}): GitRepository {
  const repository = createGitRepository();
  repository.write({ 'a.ts': 'one\n', ...files });
  repository.commit('One', 'olivia');
  repository.git('tag', '1.0.0');
  repository.write({ 'a.ts': 'two\n' });
  repository.commit('Two', 'olivia');
  repository.git('tag', '2.0.0');
  return repository;
}

async function readAll(path: string): Promise<string> {
  const call = caller(path);
  const answers = [
    await call('code_log', { from: '1.0.0', to: '2.0.0' }),
    await call('code_diff', { from: '1.0.0', to: '2.0.0' }),
    await call('code_blame', { path: 'a.ts', line: 1 }),
    await call('code_file', { path: 'a.ts' }),
  ];
  return answers.map(textOf).join('\n');
}

describe('a repository that wants a program run', () => {
  test('has none run by its configuration, attributes and hooks', async () => {
    const { program, mark } = trap();
    const repository = twoVersions({ '.gitattributes': '* diff=evil filter=evil merge=evil\n' });
    const { path, git } = repository;
    for (const [name, value] of [
      ['diff.external', program],
      ['diff.evil.textconv', program],
      ['diff.evil.command', program],
      ['filter.evil.smudge', program],
      ['filter.evil.clean', program],
      ['core.pager', program],
      ['pager.log', program],
      ['core.fsmonitor', program],
      ['core.hooksPath', join(path, 'hooks')],
      ['core.sshCommand', program],
      ['core.alternateRefsCommand', program],
      ['log.showSignature', 'true'],
      ['gpg.program', program],
      ['blame.ignoreRevsFile', '/etc/passwd'],
    ] as const)
      git('config', name, value);
    appendFileSync(join(path, '.git/info/attributes'), '* diff=evil\n');
    // The trap is one: git itself falls into it.
    spawnSync('git', ['--no-pager', 'diff', '1.0.0', '2.0.0'], { cwd: path, stdio: 'ignore' });
    expect(existsSync(mark)).toBe(true);
    rmSync(mark);

    const text = await readAll(path);
    expect(text).toContain('-one\n+two');
    expect(existsSync(mark)).toBe(false);
  });

  test('fetches nothing that a partial clone lacks', async () => {
    const { program, mark } = trap();
    const { path, git } = twoVersions();
    const blob = git('rev-parse', '2.0.0:a.ts').trim();
    rmSync(join(path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    git('config', 'core.repositoryFormatVersion', '1');
    git('config', 'extensions.partialClone', 'origin');
    git('config', 'remote.origin.url', `ext::${program} %S`);
    git('config', 'remote.origin.promisor', 'true');
    git('config', 'protocol.ext.allow', 'always');
    const call = caller(path);
    await expect(call('code_file', { path: 'a.ts', revision: '2.0.0' })).rejects.toMatchObject({
      code: 'CODE_AWAY',
    });
    expect(existsSync(mark)).toBe(false);
  });
});

describe('a repository that leads elsewhere', () => {
  test('is not read where it borrows objects', async () => {
    const { path } = twoVersions();
    const other = twoVersions();
    writeFileSync(join(path, '.git/objects/info/alternates'), `${other.path}/.git/objects\n`);
    await expect(caller(path)('code_log', {})).rejects.toThrow(/borrows objects from another repository/);
  });

  test.each(['objects', 'refs'])('is not read where its %s are those of another', async (part) => {
    const { path } = twoVersions();
    const other = twoVersions();
    renameSync(join(path, '.git', part), join(path, '.git', `${part}-own`));
    symlinkSync(join(other.path, '.git', part), join(path, '.git', part));
    await expect(caller(path)('code_log', {})).rejects.toThrow(/leads elsewhere/);
  });

  test('is not read where it is a worktree of another', async () => {
    const { path, git } = twoVersions();
    const worktree = join(scratchDir(), 'tree');
    git('worktree', 'add', '-q', worktree, '1.0.0');
    await expect(caller(worktree)('code_log', {})).rejects.toThrow(/\.git leads elsewhere/);
    expect(await readAll(path)).toContain('Two');
  });

  test('has another repository inside of it named, and not read', async () => {
    const inner = twoVersions();
    const outer = createGitRepository();
    outer.write({ 'a.ts': 'x\n' });
    outer.commit('One', 'olivia');
    const sha = inner.git('rev-parse', 'HEAD').trim();
    outer.git('update-index', '--add', '--cacheinfo', `160000,${sha},lib`);
    outer.git('commit', '-q', '-m', 'With lib');
    expect(textOf(await caller(outer.path)('code_file', { path: 'lib' }))).toMatch(
      /it is another repository, at its commit/,
    );
  });

  test('has no commit put in the place of another', async () => {
    const { path, git } = twoVersions();
    git('replace', '2.0.0', '1.0.0');
    expect(textOf(await caller(path)('code_file', { path: 'a.ts', revision: '2.0.0' }))).toContain('1: two');
  });
});

describe('what people wrote into a repository', () => {
  test('cannot pass for other commits, files or lines of the answer', async () => {
    const repository = twoVersions();
    repository.write({ 'b\nadded evil.ts (+1 -0)': 'x\n' });
    repository.commit(
      `Fix\u001b[2J\u202e it\n\n0123456789ab 2026-11-26T10:00:00Z noah: Not mine`,
      'oli\tvia\u0007',
    );
    repository.git('tag', '3.0.0');
    const call = caller(repository.path);
    const log = textOf(await call('code_log', { from: '2.0.0', to: '3.0.0' }));
    expect(log.split('\n')).toHaveLength(3);
    expect(log).toMatch(/oli via ?: Fix \[2J it/);
    expect(log).not.toMatch(/\p{Cf}/u);
    expect(log).not.toContain('\u001b');
    const diff = textOf(await call('code_diff', { from: '2.0.0', to: '3.0.0' }));
    expect(diff).not.toMatch(/^added evil\.ts/m);
  });

  test('is bounded: many files, a long line, a large file', async () => {
    const repository = twoVersions();
    repository.write({
      ...Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`many/${n}.ts`, `${n}\n`.repeat(20)])),
      'line.ts': `${'y'.repeat(100_000)}\n`,
      'large.bin': Buffer.alloc(3 * 1024 * 1024, 'z\n'),
    });
    repository.commit('Much', 'olivia');
    repository.git('tag', '3.0.0');
    const call = caller(repository.path);
    const diff = textOf(await call('code_diff', { from: '2.0.0', to: '3.0.0' }));
    expect(diff.length).toBeLessThan(30_000);
    expect(diff).toMatch(/^shop-api: 302 files differ/);
    expect(diff).toMatch(/and 202 more files\nThe hunks of \d+ files are not shown/);
    expect(diff).toContain('added large.bin (not compared: binary or too large)');
    expect(textOf(await call('code_file', { path: 'line.ts' })).length).toBeLessThan(2_000);
    expect(textOf(await call('code_log', { from: '2.0.0', to: '3.0.0' }))).toMatch(/and 294 more$/);
  });
});

describe('what cannot be read', () => {
  test('is told with why', async () => {
    const dir = scratchDir();
    await expect(caller(join(dir, 'none'))('code_log', {})).rejects.toThrow(
      /cannot be read: there is no such file or folder/,
    );
    await expect(caller(dir)('code_log', {})).rejects.toThrow(/is no Git repository/);
    mkdirSync(join(dir, 'objects'));
    writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/main\n');
    await expect(caller(dir)('code_log', {})).rejects.toThrow(/config cannot be read/);
  });

  test('leaves nothing behind, and an empty repository has no revision', async () => {
    const { path } = createGitRepository();
    await expect(caller(path)('code_log', {})).rejects.toMatchObject({ code: 'CODE_NO_REVISION' });
  });
});
