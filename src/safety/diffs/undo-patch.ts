import { basename } from 'node:path';
import { type Refusal, refuse } from '../../core/errors.ts';
import { sha256 } from '../sha256.ts';
import {
  type HeldFolder,
  holdFolder,
  placeNew,
  readHeld,
  remove,
  replace,
  writeTemporary,
} from './folder.ts';
import { defaultDiffLimits } from './patch-types.ts';
import type { AppliedFile, PatchReceipt } from './receipt.ts';
import { refuseMoved } from './refuse-moved.ts';

/**
 * Puts back what a patch changed: only if every file still is what the patch wrote and every backup what it replaced;
 * else nothing is touched. Backups stay.
 */
export async function undoPatch(receipt: PatchReceipt): Promise<{ readonly ok: true } | Refusal> {
  const held: { readonly file: AppliedFile; readonly folder: HeldFolder; readonly before: Buffer | null }[] =
    [];
  try {
    for (const file of receipt.files.toReversed()) {
      const folder = await holdFolder(receipt.root, file.path);
      if (!folder.ok) return folder;
      held.push({ file, folder, before: null });
      const moved = await refuseMoved(folder, basename(file.path), file.afterSha256);
      if (moved) return moved;
      const before = await readBackup(folder, file);
      if (before !== null && !Buffer.isBuffer(before)) return before;
      held[held.length - 1] = { file, folder, before };
    }
    for (const { file, folder, before } of held) {
      const refusal = await putBack(folder, file, before);
      if (refusal) return refusal;
    }
    return { ok: true };
  } finally {
    await Promise.all(held.map(({ folder }) => folder.handle.close()));
  }
}

async function readBackup(folder: HeldFolder, file: AppliedFile): Promise<Buffer | null | Refusal> {
  if (file.backup === null) return null;
  const kept = await readHeld(folder, file.backup, defaultDiffLimits.maxFileBytes * 16);
  if (Buffer.isBuffer(kept) && sha256(kept) === file.beforeSha256) return kept;
  return kept === null || Buffer.isBuffer(kept)
    ? refuse('PATCH_BACKUP', `The backup ${file.backup} is gone or was changed.`)
    : kept;
}

async function putBack(
  folder: HeldFolder,
  file: AppliedFile,
  before: Buffer | null,
): Promise<Refusal | undefined> {
  const name = basename(file.path);
  const moved = await refuseMoved(folder, name, file.afterSha256);
  if (moved) return moved;
  if (before === null) {
    await remove(folder, name);
    return undefined;
  }
  const temporary = await writeTemporary(folder, name, before, file.mode);
  if (file.kind !== 'delete') {
    await replace(folder, temporary, name);
    return undefined;
  }
  return (await placeNew(folder, temporary, name))
    ? undefined
    : refuse('PATCH_CHANGED', `${name} was created by somebody else.`);
}
