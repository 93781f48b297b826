import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OpsError } from '../../core/errors.ts';
import { findBinary } from '../commands/find-binary.ts';

/**
 * The unified diff that turns one text into another, as `planPatch` takes it; empty when they are the same. `path`: what the
 * diff calls the file, relative. Computed by git on copies in a folder of their own.
 */
export async function diffTexts(
  path: string,
  from: string,
  to: string,
  options: { readonly context?: number; readonly signal?: AbortSignal } = {},
): Promise<string> {
  if (from === to) return '';
  const git = await findBinary('git');
  if (git === undefined)
    throw new OpsError('GIT_MISSING', 'git is not installed, so files cannot be compared.', {
      hint: 'Install git on the host that runs Sentry.',
    });
  const folder = await mkdtemp(join(tmpdir(), 'sentry-diff-'));
  try {
    for (const [side, text] of [
      ['a', from],
      ['b', to],
    ] as const) {
      await mkdir(dirname(join(folder, side, path)), { recursive: true });
      await writeFile(join(folder, side, path), text, { mode: 0o600 });
    }
    const said = await gitDiff(git, folder, path, options);
    // From the file names on: git's own lines before them say nothing that these do not.
    return said.slice(Math.max(0, said.indexOf(`--- a/${path}`)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function gitDiff(
  git: string,
  folder: string,
  path: string,
  { context = 3, signal }: { readonly context?: number; readonly signal?: AbortSignal },
): Promise<string> {
  const words = [
    'diff',
    '--no-index',
    '--no-prefix',
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
    '--text',
  ];
  return new Promise((resolve, reject) => {
    execFile(
      git,
      [...words, `--unified=${context}`, '--', `a/${path}`, `b/${path}`],
      {
        cwd: folder,
        env: {
          GIT_CEILING_DIRECTORIES: folder,
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_GLOBAL: '/dev/null',
          HOME: '/nonexistent',
          PATH: '/usr/bin:/bin',
          LC_ALL: 'C',
        },
        timeout: 10_000,
        killSignal: 'SIGKILL',
        maxBuffer: 4 * 1024 * 1024,
        ...(signal ? { signal } : {}),
      },
      (error, stdout) => {
        // 1: they differ.
        if (!error || error.code === 1) resolve(stdout);
        else
          reject(
            new OpsError('GIT_FAILED', `git diff could not run: ${error.message}`, {
              hint: 'Look whether git runs on this host and the temporary folder has space.',
              retryable: true,
              cause: error,
            }),
          );
      },
    );
  });
}
