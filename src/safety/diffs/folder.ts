import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, open, readlink, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Refusal, refuse } from '../../core/errors.ts';
import { readUpTo } from '../paths/read-inside.ts';
import { SAFE_READ } from '../paths/safe-read.ts';
import { defaultDiffLimits } from './patch-types.ts';

/**
 * A folder held open, so that what is written goes into exactly that folder even if somebody moves it or puts a link in
 * its place. On Linux names are resolved against the descriptor; elsewhere against the path.
 */
export interface HeldFolder {
  readonly ok: true;
  readonly handle: FileHandle;
  /** The path by which a name in the folder is reached. */
  at(name: string): string;
}

/** Opens the folder of a path below a root; refused when it is not where it was when the patch was planned. */
export async function holdFolder(root: string, path: string): Promise<HeldFolder | Refusal> {
  const folder = dirname(join(root, path));
  let handle: FileHandle;
  try {
    handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return refuse('PATCH_CHANGED', `The folder of ${path} cannot be opened (${code ?? 'unknown error'}).`);
  }
  const linux = process.platform === 'linux';
  const real = linux ? await readlink(`/proc/self/fd/${handle.fd}`) : folder;
  if (real !== folder) {
    await handle.close();
    return refuse('PATCH_CHANGED', `The folder of ${path} is not where it was.`);
  }
  const base = linux ? `/proc/self/fd/${handle.fd}` : folder;
  return { ok: true, handle, at: (name) => `${base}/${name}` };
}

/** The content of a regular file in a held folder; null when there is none; a refusal when it is something else. */
export async function readHeld(
  folder: HeldFolder,
  name: string,
  maxBytes: number,
): Promise<Buffer | null | Refusal> {
  let handle: FileHandle;
  try {
    handle = await open(folder.at(name), SAFE_READ);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return null;
    return refuse('PATCH_CHANGED', `${name} cannot be opened (${code ?? 'unknown error'}).`);
  }
  try {
    if (!(await handle.stat()).isFile()) return refuse('PATCH_CHANGED', `${name} is not a regular file.`);
    return await readUpTo(handle, maxBytes);
  } finally {
    await handle.close();
  }
}

/** Writes a new file beside `name` and makes it durable; returns its name. The caller renames or links it. */
export async function writeTemporary(
  folder: HeldFolder,
  name: string,
  content: Buffer,
  mode: number,
): Promise<string> {
  const temporary = `.${name.slice(0, 200)}.sentry-${randomBytes(6).toString('hex')}`;
  const handle = await open(
    folder.at(temporary),
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    await handle.writeFile(content);
    await keepOwner(folder, name, handle);
    await handle.chmod(mode);
    await handle.sync();
  } catch (error) {
    await unlink(folder.at(temporary));
    throw error;
  } finally {
    await handle.close();
  }
  return temporary;
}

/** A service that runs as another user must still be able to read its file. */
async function keepOwner(folder: HeldFolder, name: string, handle: FileHandle): Promise<void> {
  try {
    const { uid, gid } = await lstat(folder.at(name));
    const mine = await handle.stat();
    if (uid !== mine.uid || gid !== mine.gid) await handle.chown(uid, gid);
  } catch (error) {
    // A new file has no owner to keep; without the right to give files away it stays ours.
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' && code !== 'EPERM') throw error;
  }
}

const MAX_BACKUPS = 1000;

/**
 * Keeps the file as `name.bak`, `name.bak.1`, …: the first that is free, never overwriting one. A hard link where the
 * file system has them, so that also a write that comes in between is kept; a copy elsewhere.
 */
export async function backUp(folder: HeldFolder, name: string): Promise<string | Refusal> {
  for (let number = 0; number < MAX_BACKUPS; number += 1) {
    const backup = number === 0 ? `${name}.bak` : `${name}.bak.${number}`;
    try {
      await link(folder.at(name), folder.at(backup));
      return backup;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EEXIST') continue;
      if (code === 'ENOENT') return refuse('PATCH_CHANGED', `${name} is gone.`);
      if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP') throw error;
    }
    const kept = await copied(folder, name, backup);
    if (kept === true) return backup;
    if (kept !== false) return kept;
  }
  return refuse('PATCH_BACKUP', `${name} has ${MAX_BACKUPS} backups; remove some.`);
}

/** By a descriptor that waits for nobody: by now the name may be a pipe's. */
async function copied(folder: HeldFolder, name: string, backup: string): Promise<boolean | Refusal> {
  const content = await readHeld(folder, name, defaultDiffLimits.maxFileBytes * 16);
  if (content === null) return refuse('PATCH_CHANGED', `${name} is gone.`);
  if (!Buffer.isBuffer(content)) return content;
  const { mode } = await lstat(folder.at(name));
  const temporary = await writeTemporary(folder, name, content, mode & 0o777);
  return placeNew(folder, temporary, backup);
}

/** Puts a temporary file in the place of `name`, atomically, and makes the folder's entry durable. */
export async function replace(folder: HeldFolder, temporary: string, name: string): Promise<void> {
  await rename(folder.at(temporary), folder.at(name));
  await folder.handle.sync();
}

/** Gives a temporary file the name `name` only if nothing has it. */
export async function placeNew(folder: HeldFolder, temporary: string, name: string): Promise<boolean> {
  try {
    await link(folder.at(temporary), folder.at(name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(folder.at(temporary));
    await folder.handle.sync();
  }
}

export async function remove(folder: HeldFolder, name: string): Promise<void> {
  await unlink(folder.at(name));
  await folder.handle.sync();
}
