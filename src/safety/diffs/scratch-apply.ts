import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Refusal, refuse } from '../../core/errors.ts';
import { renderDiff } from './parse-diff.ts';
import type { FilePatch } from './patch-types.ts';
import { inScratchFolder, runGit } from './run-git.ts';

/** The content of each file before the patch; null for one that does not exist. */
export type Contents = ReadonlyMap<string, Buffer | null>;

const APPLY = ['-c', 'core.autocrlf=false', '-c', 'apply.ignoreWhitespace=no', 'apply'];

/**
 * What the files would be after the patch, computed by git on copies in an empty folder: `git apply --check` first,
 * then the patch itself. Nothing of the real tree is touched, and no configuration or hook of it is read.
 */
export async function scratchApply(
  files: readonly FilePatch[],
  before: Contents,
  signal?: AbortSignal,
): Promise<{ readonly ok: true; readonly after: Contents } | Refusal> {
  return inScratchFolder(async (folder) => {
    const tree = join(folder, 'tree');
    await mkdir(tree);
    for (const [path, content] of before) {
      await mkdir(dirname(join(tree, path)), { recursive: true });
      if (content !== null) await writeFile(join(tree, path), content, { mode: 0o600 });
    }
    await writeFile(join(folder, 'change.diff'), renderDiff(files), { mode: 0o600 });
    for (const flags of [['--check'], []]) {
      const { code, stderr } = await runGit(
        tree,
        [...APPLY, ...flags, '--whitespace=nowarn', '-p1', '../change.diff'],
        { timeoutMs: 20_000, maxBytes: 64 * 1024, signal },
      );
      const said = stderr.trim().split('\n').slice(0, 5).join('; ').slice(0, 500);
      if (code !== 0) return refuse('DIFF_DOES_NOT_APPLY', `git apply: ${said}`);
    }
    const after = new Map<string, Buffer | null>();
    for (const { kind, path } of files)
      after.set(path, kind === 'delete' ? null : await readFile(join(tree, path)));
    return { ok: true, after };
  });
}
