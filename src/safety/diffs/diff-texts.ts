import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OpsError } from '../../core/errors.ts';
import { inScratchFolder, runGit } from './run-git.ts';

const FLAGS = ['--no-index', '--no-prefix', '--no-color', '--no-ext-diff', '--no-textconv', '--text'];

/**
 * The unified diff that turns one text into another, as `planPatch` takes it; empty when they are the same. `path`: what the
 * diff calls the file, relative. Computed by git on copies in a folder of their own: 100,000 lines that have little in common
 * take it 0.2 s, where the `diff` package gives up after 10 s on the main thread.
 */
export async function diffTexts(
  path: string,
  from: string,
  to: string,
  options: { readonly context?: number; readonly signal?: AbortSignal } = {},
): Promise<string> {
  if (from === to) return '';
  return inScratchFolder(async (folder) => {
    for (const [side, text] of [
      ['a', from],
      ['b', to],
    ] as const) {
      await mkdir(dirname(join(folder, side, path)), { recursive: true });
      await writeFile(join(folder, side, path), text, { mode: 0o600 });
    }
    const args = ['diff', ...FLAGS, `--unified=${options.context ?? 3}`, '--', `a/${path}`, `b/${path}`];
    const { code, stdout, stderr } = await runGit(folder, args, {
      timeoutMs: 10_000,
      maxBytes: 4 * 1024 * 1024,
      signal: options.signal,
    });
    // 1: they differ.
    if (code > 1)
      throw new OpsError('GIT_FAILED', `git diff failed: ${stderr.trim().slice(0, 500)}`, {
        hint: 'Look whether git runs on this host and the temporary folder has space.',
        retryable: true,
      });
    // From the file names on: git's own lines before them say nothing that these do not.
    return stdout.slice(Math.max(0, stdout.indexOf(`--- a/${path}`)));
  });
}
