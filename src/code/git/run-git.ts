import { execFile } from 'node:child_process';
import { OpsError } from '../../core/errors.ts';
import { findBinary } from '../../safety/commands/find-binary.ts';
import type { Reading } from '../repository.ts';

/** Bytes of an answer: far more than is shown. */
const MAX_OUTPUT = 16 * 1024 * 1024;

/** As much memory as reading a large repository takes, and no more than a hostile pack may have, bytes. */
const MAX_MEMORY = 4 * 1024 * 1024 * 1024;

/** Before every command: what git would do on its own beside reading objects. Paths are names and never patterns. */
const asked = [
  '--no-pager',
  '--no-replace-objects',
  '--literal-pathspecs',
  '--no-optional-locks',
  ...[
    'core.hooksPath=/dev/null',
    'core.attributesFile=/dev/null',
    'core.fsmonitor=false',
    'core.quotePath=false',
    `core.bigFileThreshold=${1024 * 1024}`,
    'core.packedGitWindowSize=32m',
    'core.packedGitLimit=512m',
    'protocol.allow=never',
    'log.showSignature=false',
    'gc.auto=0',
  ].flatMap((setting) => ['-c', setting]),
];

/**
 * Runs git on a folder of its own form (see `inGitFolder`), without a shell, with nothing of our environment.
 * Throws OpsError `CODE_NO_GIT`, `CODE_AWAY` and `CODE_TOO_MUCH`.
 */
export async function runGit(
  folder: string,
  args: readonly string[],
  { signal, timeoutMs }: Reading,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [git, limiter] = await Promise.all([findBinary('git'), findBinary('prlimit')]);
  if (git === undefined)
    throw new OpsError('CODE_NO_GIT', 'git is not installed on the machine that runs Sentry.', {
      hint: 'Install git there, or declare the repository by `github`.',
    });
  const words = [`--git-dir=${folder}`, ...asked, ...args];
  const [program, ...given] =
    limiter === undefined
      ? [git, ...words]
      : [limiter, `--as=${MAX_MEMORY}`, '--core=0', '--nofile=512', '--', git, ...words];
  return new Promise((resolve, reject) => {
    execFile(
      program,
      given,
      {
        cwd: folder,
        env: {
          // A process of git's that would fetch what a partial clone lacks finds no way to do so.
          GIT_ALLOW_PROTOCOL: 'none',
          GIT_NO_LAZY_FETCH: '1',
          GIT_TERMINAL_PROMPT: '0',
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_GLOBAL: '/dev/null',
          GIT_ATTR_NOSYSTEM: '1',
          HOME: '/nonexistent',
          PATH: '/usr/bin:/bin',
          LC_ALL: 'C.UTF-8',
        },
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: MAX_OUTPUT,
        signal,
      },
      (error, stdout, stderr) => {
        if (!error || typeof error.code === 'number')
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
        else reject(signal.aborted ? error : faultOf(error, timeoutMs));
      },
    );
  });
}

function faultOf(
  error: Error & { readonly code?: unknown; readonly killed?: boolean },
  timeoutMs: number,
): OpsError {
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return new OpsError('CODE_TOO_MUCH', `git answers with more than ${MAX_OUTPUT / 1024 / 1024} MiB.`, {
      hint: 'Ask for less: name paths, or two versions that are closer to each other.',
      cause: error,
    });
  const why = error.killed
    ? `it took longer than ${Math.round(timeoutMs / 1_000)} s`
    : 'it did not run to its end';
  return new OpsError('CODE_AWAY', `git could not read the repository: ${why}.`, {
    hint: 'Ask for less, or look whether git can read the repository on the machine that runs Sentry.',
    retryable: true,
    cause: error,
  });
}
