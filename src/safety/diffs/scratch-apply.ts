import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OpsError, type Refusal, refuse } from '../../core/errors.ts';
import { findBinary } from '../commands/find-binary.ts';
import { renderDiff } from './parse-diff.ts';
import type { FilePatch } from './patch-types.ts';

/** The content of each file before the patch; null for one that does not exist. */
export type Contents = ReadonlyMap<string, Buffer | null>;

/**
 * What the files would be after the patch, computed by git on copies in an empty folder: `git apply --check` first,
 * then the patch itself. Nothing of the real tree is touched, and no configuration or hook of it is read.
 */
export async function scratchApply(
  files: readonly FilePatch[],
  before: Contents,
  signal?: AbortSignal,
): Promise<{ readonly ok: true; readonly after: Contents } | Refusal> {
  const git = await findBinary('git');
  if (git === undefined)
    throw new OpsError('GIT_MISSING', 'git is not installed, so a patch cannot be checked.', {
      hint: 'Install git on the host that runs Sentry.',
    });
  const folder = await mkdtemp(join(tmpdir(), 'sentry-patch-'));
  try {
    for (const [path, content] of before) {
      await mkdir(dirname(join(folder, 'tree', path)), { recursive: true });
      if (content !== null) await writeFile(join(folder, 'tree', path), content, { mode: 0o600 });
    }
    await mkdir(join(folder, 'tree'), { recursive: true });
    await writeFile(join(folder, 'change.diff'), renderDiff(files), { mode: 0o600 });
    for (const check of [['--check'], []]) {
      const said = await gitApply(git, folder, check, signal);
      if (said !== undefined) return refuse('DIFF_DOES_NOT_APPLY', `git apply: ${said}`);
    }
    return { ok: true, after: await readAll(folder, files) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What git complained about, or undefined when it was content. */
function gitApply(
  git: string,
  folder: string,
  flags: readonly string[],
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const words = ['-c', 'core.autocrlf=false', '-c', 'apply.ignoreWhitespace=no', 'apply', ...flags];
  return new Promise((resolve, reject) => {
    execFile(
      git,
      [...words, '--whitespace=nowarn', '-p1', '../change.diff'],
      {
        cwd: join(folder, 'tree'),
        // No repository around the folder, no configuration of the user or the system.
        env: {
          GIT_CEILING_DIRECTORIES: folder,
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_GLOBAL: '/dev/null',
          HOME: '/nonexistent',
          PATH: '/usr/bin:/bin',
          LC_ALL: 'C',
        },
        timeout: 20_000,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024,
        ...(signal ? { signal } : {}),
      },
      (error, _stdout, stderr) => {
        if (!error) resolve(undefined);
        else if (typeof error.code === 'number')
          resolve(stderr.trim().split('\n').slice(0, 5).join('; ').slice(0, 500));
        else
          reject(
            new OpsError('GIT_FAILED', `git apply could not run: ${error.message}`, {
              hint: 'Look whether git runs on this host and the temporary folder has space.',
              retryable: true,
              cause: error,
            }),
          );
      },
    );
  });
}

async function readAll(folder: string, files: readonly FilePatch[]): Promise<Contents> {
  const after = new Map<string, Buffer | null>();
  for (const { kind, path } of files)
    after.set(path, kind === 'delete' ? null : await readFile(join(folder, 'tree', path)));
  return after;
}
