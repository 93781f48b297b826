import { lstat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { type Refusal, refuse } from '../../core/errors.ts';
import { readPathText } from './path-text.ts';
import { type Resolved, resolvePath } from './resolve-path.ts';
import { isSecretFile } from './secret-files.ts';
import { inSystemFolder, isInside } from './system-folders.ts';

/** A path that lies inside its root. */
export interface CheckedPath {
  readonly ok: true;
  /** The root with its links followed. */
  readonly root: string;
  /** Absolute, with all links followed. */
  readonly resolved: string;
  /** From the root to what the caller named, links not followed; `''` for the root itself. */
  readonly relative: string;
  /** `missing`: nothing is there; the path may still be used to say so, or to create it. */
  readonly kind: 'file' | 'directory' | 'missing';
}

/** What a file system tells of paths: this machine's, or another's over ssh. */
export interface PathFiles {
  readonly resolve: (path: string) => Promise<Resolved | Refusal>;
  /** Of a resolved path, which is followed no further. */
  readonly kindOf: (resolved: string) => Promise<CheckedPath['kind'] | Refusal>;
}

const localFiles: PathFiles = { resolve: (path) => resolvePath(path), kindOf };

/**
 * Whether a path, as a model or a person wrote it, stays inside a root once everything is resolved. Relative paths
 * start at the root; absolute ones must lie in it. Never throws for what the text or the file system says; the answer
 * is only as old as the call: to read the file, use `openInside`, which checks again what it has opened.
 */
export async function checkPath(
  root: string,
  text: string,
  files: PathFiles = localFiles,
): Promise<CheckedPath | Refusal> {
  const read = readPathText(text);
  if (!read.ok) return read;
  const named = resolve(root);
  const top = await files.resolve(named);
  if (!top.ok) return top;
  const below = read.absolute
    ? belowOneOf(`/${read.segments.join('/')}`, [named, top.path])
    : read.segments.join('/');
  if (below === undefined) return outside();
  const target = await files.resolve(join(top.path, below));
  if (!target.ok) return target;
  const refusal =
    refuseResolved(top.path, target.path) ?? (isSecretFile(join(top.path, below)) ? secret() : undefined);
  if (refusal) return refusal;
  const kind = await files.kindOf(target.path);
  return typeof kind === 'string'
    ? { ok: true, root: top.path, resolved: target.path, relative: below, kind }
    : kind;
}

/** What holds for a resolved path, whoever resolved it: inside the root, no system folder, no secret file. */
export function refuseResolved(root: string, resolved: string): Refusal | undefined {
  if (!isInside(root, resolved)) return outside();
  if (inSystemFolder(resolved))
    return refuse('PATH_SYSTEM', 'The path leads into /proc, /sys, /dev or a folder like them.');
  return isSecretFile(resolved) ? secret() : undefined;
}

function belowOneOf(absolute: string, roots: readonly string[]): string | undefined {
  const root = roots.find((candidate) => isInside(candidate, absolute));
  return root === undefined ? undefined : relative(root, absolute);
}

async function kindOf(resolved: string): Promise<CheckedPath['kind'] | Refusal> {
  try {
    const found = await lstat(resolved);
    if (found.isFile()) return 'file';
    if (found.isDirectory()) return 'directory';
    return refuse('PATH_NOT_A_FILE', 'The path is a device, a socket, a pipe or a link, not a file.');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
    return refuse('PATH_UNREADABLE', `The path cannot be looked at (${code ?? 'unknown error'}).`);
  }
}

const outside = (): Refusal => refuse('PATH_OUTSIDE', 'The path leads out of the root it belongs to.');
const secret = (): Refusal =>
  refuse('PATH_SECRET', 'Files of this kind hold keys or passwords and are never read or changed.');
