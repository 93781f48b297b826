import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OpsError } from '../../core/errors.ts';
import { findBinary } from '../commands/find-binary.ts';

/** An empty folder for copies that git works on; gone when the work has ended. */
export async function inScratchFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sentry-diff-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs git in a folder, with no repository around it and no configuration of the user or the system. `code` is its exit code;
 * throws `OpsError` GIT_MISSING or GIT_FAILED when it could not run to its end.
 */
export async function runGit(
  folder: string,
  args: readonly string[],
  options: {
    readonly timeoutMs: number;
    readonly maxBytes: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const git = await findBinary('git');
  if (git === undefined)
    throw new OpsError('GIT_MISSING', 'git is not installed, so files cannot be compared or patched.', {
      hint: 'Install git on the host that runs Sentry.',
    });
  return new Promise((resolve, reject) => {
    execFile(
      git,
      args,
      {
        cwd: folder,
        env: {
          // Only what is above the working folder counts as a ceiling.
          GIT_CEILING_DIRECTORIES: dirname(folder),
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_GLOBAL: '/dev/null',
          HOME: '/nonexistent',
          PATH: '/usr/bin:/bin',
          LC_ALL: 'C',
        },
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: options.maxBytes,
        ...(options.signal ? { signal: options.signal } : {}),
      },
      (error, stdout, stderr) => {
        if (!error || typeof error.code === 'number')
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
        else
          reject(
            new OpsError('GIT_FAILED', `git could not run: ${error.message}`, {
              hint: 'Look whether git runs on this host and the temporary folder has space.',
              retryable: true,
              cause: error,
            }),
          );
      },
    );
  });
}
