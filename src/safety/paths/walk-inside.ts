import { constants, type Dir } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Refusal, refuse } from '../../core/errors.ts';
import { checkPath, refuseResolved } from './check-path.ts';
import { isSecretFile } from './secret-files.ts';

/** A regular file below a folder; links, devices, sockets, pipes and secret files are not walked into. */
export interface WalkedFile {
  /** From the root. */
  readonly relative: string;
  readonly resolved: string;
  /** Bytes. */
  readonly size: number;
  /** Bytes it takes on the disk; less than `size` where it has holes. */
  readonly allocated: number;
  readonly modifiedAt: Date;
}

export interface Walk {
  readonly ok: true;
  readonly root: string;
  readonly files: readonly WalkedFile[];
  /** Names that were passed over: secret files, and what is neither file nor folder. */
  readonly withheld: number;
  /** False when a limit was reached: there is more than this. */
  readonly complete: boolean;
  /** Folders that Sentry may not look into: what is in them is not known. */
  readonly unreadFolders: number;
}

interface Folder {
  readonly relative: string;
  readonly resolved: string;
  /** The path by which it is looked at. */
  readonly by: string;
  readonly depth: number;
}

export interface WalkLimits {
  readonly maxEntries: number;
  readonly maxDepth: number;
  readonly maxMs: number;
}

const defaultLimits: WalkLimits = { maxEntries: 20_000, maxDepth: 12, maxMs: 5_000 };

/** Lists the files at or below a path inside a root, following no link. What is listed must be opened by `openInside`. */
export async function walkInside(
  root: string,
  text: string,
  options: {
    readonly limits?: WalkLimits;
    readonly signal?: AbortSignal;
    /** Called between the look at a folder and its open: where tests stage the race. */
    readonly beforeOpen?: (folder: string) => void;
  } = {},
): Promise<Walk | Refusal> {
  const checked = await checkPath(root, text);
  if (!checked.ok) return checked;
  if (checked.kind === 'missing') return refuse('PATH_MISSING', 'There is no such file or folder.');
  const limits = options.limits ?? defaultLimits;
  const until = performance.now() + limits.maxMs;
  const files: WalkedFile[] = [];
  const pending: Omit<Folder, 'by'>[] = [];
  let withheld = 0;
  let unreadFolders = 0;
  let entries = 0;
  let complete = true;

  /** Looks at one name; folders are put on the list. */
  const visit = async ({ by, ...at }: Folder): Promise<void> => {
    if (refuseResolved(checked.root, at.resolved) || isSecretFile(at.relative)) {
      withheld += 1;
      return;
    }
    const found = await lstatIfThere(by);
    if (found === undefined) return;
    if (found.isDirectory()) pending.push({ ...at, depth: at.depth + 1 });
    else if (found.isFile())
      files.push({
        relative: at.relative,
        resolved: at.resolved,
        size: found.size,
        allocated: found.blocks * 512,
        modifiedAt: found.mtime,
      });
    else withheld += 1;
  };

  const { relative, resolved } = checked;
  await visit({ relative, resolved, by: resolved, depth: 0 });
  for (let folder = pending.shift(); folder; folder = pending.shift()) {
    if (folder.depth > limits.maxDepth) {
      complete = false;
      continue;
    }
    options.beforeOpen?.(folder.resolved);
    const opened = await openFolder(folder.resolved);
    if (!opened) {
      if (await lstatIfThere(folder.resolved)) unreadFolders += 1;
      withheld += 1;
      continue;
    }
    try {
      for await (const entry of opened.entries) {
        options.signal?.throwIfAborted();
        entries += 1;
        if (entries > limits.maxEntries || performance.now() > until)
          return { ok: true, root: checked.root, files, withheld, complete: false, unreadFolders };
        await visit({
          relative: join(folder.relative, entry.name),
          resolved: join(folder.resolved, entry.name),
          by: `${opened.base}/${entry.name}`,
          depth: folder.depth,
        });
      }
    } finally {
      await opened.handle.close();
    }
  }
  return { ok: true, root: checked.root, files, withheld, complete, unreadFolders };
}

/** Undefined when it went away meanwhile or may not be looked at. */
async function lstatIfThere(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    return ignoreUnreadable(error);
  }
}

/**
 * A folder held open, and only if it is where it was found: between the look and the open anybody may put a link in its
 * place. On Linux its names are resolved against the descriptor.
 */
async function openFolder(
  path: string,
): Promise<{ readonly handle: FileHandle; readonly base: string; readonly entries: Dir } | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const descriptor = `/proc/self/fd/${handle.fd}`;
    const linux = process.platform === 'linux';
    if (linux && (await readlink(descriptor)) !== path) {
      await handle.close();
      return undefined;
    }
    const base = linux ? descriptor : path;
    return { handle, base, entries: await opendir(base) };
  } catch (error) {
    await handle?.close();
    return ignoreUnreadable(error);
  }
}

function ignoreUnreadable(error: unknown): undefined {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'].includes(code)) return undefined;
  throw error;
}
