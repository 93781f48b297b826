import { basename } from 'node:path';
import { messageOf, OpsError, type Refusal, refuse } from '../../core/errors.ts';
import { backUp, type HeldFolder, holdFolder, placeNew, remove, replace, writeTemporary } from './folder.ts';
import type { PatchPlan, PlannedFile } from './plan-patch.ts';
import type { AppliedFile, PatchReceipt } from './receipt.ts';
import { refuseMoved } from './refuse-moved.ts';
import { undoPatch } from './undo-patch.ts';

export interface ApplyOptions {
  /** Called before each file is written: where tests stage a change in between. */
  readonly beforeWrite?: (file: PlannedFile) => Promise<void> | void;
}

/**
 * Writes what was planned, file by file, each atomically and only if it still is what the plan saw. When one cannot be
 * written, those before it are put back. Throws `OpsError` PATCH_PARTIAL when even that fails: it names the files.
 */
export async function applyPlan(
  plan: PatchPlan,
  options: ApplyOptions = {},
): Promise<{ readonly ok: true; readonly receipt: PatchReceipt } | Refusal> {
  const done: AppliedFile[] = [];
  for (const file of plan.files) {
    try {
      await options.beforeWrite?.(file);
      const applied = await applyFile(plan.root, file);
      if ('ok' in applied) {
        await takeBack({ root: plan.root, files: done });
        return applied;
      }
      done.push(applied);
    } catch (error) {
      await takeBack({ root: plan.root, files: done });
      throw error;
    }
  }
  return { ok: true, receipt: { root: plan.root, files: done } };
}

async function takeBack(receipt: PatchReceipt): Promise<void> {
  if (receipt.files.length === 0) return;
  const undone = await undoPatch(receipt);
  if (undone.ok) return;
  throw new OpsError(
    'PATCH_PARTIAL',
    `The patch was applied in part and could not be taken back: ${undone.reason}`,
    {
      hint: `Compare with their .bak files: ${receipt.files.map(({ path }) => path).join(', ')}.`,
    },
  );
}

async function applyFile(root: string, file: PlannedFile): Promise<AppliedFile | Refusal> {
  const folder = await holdFolder(root, file.path);
  if (!folder.ok) return folder;
  try {
    const name = basename(file.path);
    const moved = await refuseMoved(folder, name, file.beforeSha256);
    if (moved) return moved;
    const backup = await write(folder, name, file);
    if (backup !== null && typeof backup !== 'string') return backup;
    const { kind, path, beforeSha256, afterSha256, mode } = file;
    return { kind, path, backup, beforeSha256, afterSha256, mode };
  } finally {
    await folder.handle.close();
  }
}

/** Returns the backup's name; null for a created file. */
async function write(folder: HeldFolder, name: string, file: PlannedFile): Promise<string | null | Refusal> {
  if (file.kind === 'create') {
    const temporary = await writeTemporary(folder, name, file.after ?? Buffer.alloc(0), file.mode);
    return (await placeNew(folder, temporary, name))
      ? null
      : refuse('PATCH_CHANGED', `${name} was created by somebody else.`);
  }
  const backup = await backUp(folder, name);
  if (typeof backup !== 'string') return backup;
  // What was kept must be what was planned against: else somebody wrote between the look and the backup.
  const moved = await refuseMoved(folder, backup, file.beforeSha256);
  if (moved) {
    await remove(folder, backup);
    return moved;
  }
  try {
    if (file.kind === 'delete') await remove(folder, name);
    else
      await replace(
        folder,
        await writeTemporary(folder, name, file.after ?? Buffer.alloc(0), file.mode),
        name,
      );
  } catch (cause) {
    throw new OpsError('PATCH_WRITE', `${file.path} could not be written: ${messageOf(cause)}`, {
      hint: 'Look at the permissions and the free space of its folder; the file itself is unchanged.',
      cause,
    });
  }
  return backup;
}
