import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scratchDir } from './scratch-dir.ts';

/** A clone on this machine that a test writes. Times go on by a minute with each commit. */
export interface GitRepository {
  readonly path: string;
  git(...args: readonly string[]): string;
  /** Null: the file goes; `{ link }`: a symbolic link. */
  write(files: Readonly<Record<string, string | Buffer | null | { readonly link: string }>>): void;
  /** All that was written; gives its hash. */
  commit(title: string, by: string): string;
}

export function createGitRepository(path = scratchDir()): GitRepository {
  let minute = 0;
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): string =>
    execFileSync('git', args, {
      cwd: path,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: '/usr/bin:/bin',
        HOME: path,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_AUTHOR_NAME: 'olivia',
        GIT_AUTHOR_EMAIL: 'olivia@shop.example',
        GIT_COMMITTER_NAME: 'olivia',
        GIT_COMMITTER_EMAIL: 'olivia@shop.example',
        ...env,
      },
    });
  run(['init', '-q', '-b', 'main']);
  return {
    path,
    git: (...args) => run(args, { GIT_AUTHOR_DATE: dateOf(minute), GIT_COMMITTER_DATE: dateOf(minute) }),
    write(files) {
      for (const [name, content] of Object.entries(files)) {
        const at = join(path, name);
        mkdirSync(dirname(at), { recursive: true });
        rmSync(at, { force: true });
        if (content === null) continue;
        if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, at);
        else writeFileSync(at, content);
      }
    },
    commit(title, by) {
      minute += 1;
      const dates = { GIT_AUTHOR_DATE: dateOf(minute), GIT_COMMITTER_DATE: dateOf(minute) };
      run(['add', '-A', '-f']);
      run(['commit', '-q', '--allow-empty', '-m', title], { ...dates, GIT_AUTHOR_NAME: by });
      return run(['rev-parse', 'HEAD']).trim();
    },
  };
}

const dateOf = (minute: number): string => new Date(Date.UTC(2026, 10, 26, 10, minute)).toISOString();
