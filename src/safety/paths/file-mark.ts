import { type Stats, statSync } from 'node:fs';

/** Another text for every version of a file, also where an editor replaces it; `none` where there is none. Throws what is neither. */
export function fileMark(path: string): string {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : 'none';
}
