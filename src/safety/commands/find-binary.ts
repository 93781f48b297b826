import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the system keeps its programs; never PATH, which somebody else may have set. */
const systemFolders: readonly string[] = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** The absolute path of a program of the system, or undefined when it is not installed. */
export async function findBinary(name: string, folders = systemFolders): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      await access(path, constants.X_OK);
      return path;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') throw error;
    }
  }
  return undefined;
}
