import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';

/** What one file may hold, bytes; a suite's largest hold some hundred thousand. */
export const MAX_FILE_BYTES = 8_000_000;

/** Whether a path lies in one of the folders, or is it; all are real ones, without links. */
export const liesIn = (folders: readonly string[], path: string): boolean =>
  folders.some((folder) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep));

/**
 * The text of a file that really lies in one of `folders`. What a suite holds goes to a model: a link in it must not send another file
 * of this machine. Rejects with why not, or as `stat` does where there is none. A pipe or a device is never opened: it may not end.
 */
export async function readInside(folders: readonly string[], path: string): Promise<string> {
  const real = await realpath(path);
  if (!liesIn(folders, real)) throw new Error('it is a link out of the suite');
  if (!(await stat(real)).isFile()) throw new Error('it is no file');
  // Whatever somebody has put in its place by now.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const opened = await file.stat();
    if (!opened.isFile()) throw new Error('it is no file');
    if (opened.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES / 1e6} MB`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
