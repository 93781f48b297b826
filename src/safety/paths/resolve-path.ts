import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Refusal, refuse } from '../../core/errors.ts';

/** Where a path leads once every link on the way is followed. `missing`: nothing is there (yet). */
export interface Resolved {
  readonly ok: true;
  readonly path: string;
  readonly missing: boolean;
}

/** What is asked of a file system to follow a path. */
export interface LinkFiles {
  /** Rejects with the error code of the system: ENOENT, ELOOP, EACCES. */
  readonly realpath: (path: string) => Promise<string>;
  /** Whether something of that name is there, and be it a link that leads nowhere. */
  readonly exists: (path: string) => Promise<boolean>;
}

/**
 * Follows links like the kernel does. A path that does not exist is resolved as far as it does; a link that leads
 * nowhere is refused, because whoever creates its target later decides where it leads.
 */
export async function resolvePath(
  path: string,
  files: LinkFiles = { realpath, exists },
): Promise<Resolved | Refusal> {
  try {
    return { ok: true, path: await files.realpath(path), missing: false };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') return unreadable(code);
  }
  if (path === '/') return refuse('PATH_UNREADABLE', 'The root of the file system cannot be read.');
  const parent = await resolvePath(dirname(path), files);
  if (!parent.ok) return parent;
  const here = join(parent.path, path.slice(path.lastIndexOf('/') + 1));
  if (!parent.missing && (await files.exists(here)))
    return refuse('PATH_DANGLING', 'The path is, or goes through, a link that leads nowhere.');
  return { ok: true, path: here, missing: true };
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

function unreadable(code: string | undefined): Refusal {
  if (code === 'ELOOP') return refuse('PATH_LOOP', 'The links of the path go round in a circle.');
  if (code === 'ENAMETOOLONG') return refuse('PATH_TOO_LONG', 'The path is too long for the file system.');
  return refuse('PATH_UNREADABLE', `The path cannot be resolved (${code ?? 'unknown error'}).`);
}
