import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { type Refusal, refuse } from '../../core/errors.ts';
import { type CheckedPath, checkPath, refuseResolved } from './check-path.ts';
import { SAFE_READ } from './safe-read.ts';

/** A file that is open and was checked after it was opened. Close `handle`. */
export interface OpenedFile {
  readonly ok: true;
  readonly handle: FileHandle;
  /** Where the descriptor really leads. */
  readonly resolved: string;
  readonly relative: string;
  /** Bytes. */
  readonly size: number;
  /** Permission bits, e.g. 0o644. */
  readonly mode: number;
}

export interface OpenOptions {
  /** Bytes; a larger file is refused. No limit when left out: the caller reads only a part. */
  readonly maxSize?: number;
  /** Called between check and open: where tests stage the race. */
  readonly beforeOpen?: (checked: CheckedPath) => Promise<void> | void;
}

/**
 * Opens a regular file inside a root for reading. Between the check and the open anybody may swap a folder for a link,
 * so what counts is the descriptor: where it leads is asked from the kernel after the open, and checked like the
 * path. Does not block on a pipe, follows no link at the end, never makes a terminal ours.
 */
export async function openInside(
  root: string,
  text: string,
  options: OpenOptions = {},
): Promise<OpenedFile | Refusal> {
  const checked = await checkPath(root, text);
  if (!checked.ok) return checked;
  if (checked.kind === 'missing') return refuse('PATH_MISSING', 'There is no such file.');
  if (checked.kind === 'directory') return refuse('PATH_NOT_A_FILE', 'The path is a folder, not a file.');
  await options.beforeOpen?.(checked);
  const handle = await openFile(checked.resolved);
  if ('ok' in handle) return handle;
  try {
    const opened = await checkOpened(handle, checked, options);
    if (!opened.ok) await handle.close();
    return opened;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openFile(path: string): Promise<FileHandle | Refusal> {
  try {
    return await open(path, SAFE_READ);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return refuse('PATH_MISSING', 'There is no such file.');
    if (code === 'ELOOP' || code === 'EMLINK')
      return refuse('PATH_CHANGED', 'The file became a link while it was opened.');
    return refuse('PATH_UNREADABLE', `The file cannot be opened (${code ?? 'unknown error'}).`);
  }
}

async function checkOpened(
  handle: FileHandle,
  checked: CheckedPath,
  options: OpenOptions,
): Promise<OpenedFile | Refusal> {
  const found = await handle.stat();
  if (!found.isFile()) return refuse('PATH_NOT_A_FILE', 'The path is not a regular file.');
  const resolved = await pathOf(handle, checked.resolved);
  if (resolved === undefined)
    return refuse('PATH_CHANGED', 'The file was replaced while it was opened. Try again.');
  const refusal = refuseResolved(checked.root, resolved);
  if (refusal) return refusal;
  if (options.maxSize !== undefined && found.size > options.maxSize)
    return refuse('PATH_TOO_LARGE', `The file has ${found.size} bytes; at most ${options.maxSize} are read.`);
  return {
    ok: true,
    handle,
    resolved,
    relative: checked.relative,
    size: found.size,
    mode: found.mode & 0o7777,
  };
}

/** Where an open descriptor leads: /proc on Linux; elsewhere the path again, if it still is the same file. */
async function pathOf(handle: FileHandle, expected: string): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const link = await readlink(`/proc/self/fd/${handle.fd}`);
    return link.startsWith('/') && !link.endsWith(' (deleted)') ? link : undefined;
  }
  const again = await realpath(expected);
  const [opened, named] = await Promise.all([handle.stat(), stat(again)]);
  return opened.dev === named.dev && opened.ino === named.ino ? again : undefined;
}
