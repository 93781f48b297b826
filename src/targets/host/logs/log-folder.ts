import type { FileHandle } from 'node:fs/promises';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Refusal } from '../../../core/errors.ts';
import type { OpenedFile } from '../../../safety/paths/open-inside.ts';
import { bytesBefore, changeOf, type FilePosition } from './log-file.ts';

/** Opens a file within the folders that the host declares (`openInside`). */
export type OpenLog = (path: string) => Promise<OpenedFile | Refusal>;

/** A file beside a log whose name says that it was the log: `app.log.1`, `app.log-20261123.gz`, `app-2026-11-23.log`. */
export interface RotatedFile {
  readonly path: string;
  readonly key: string;
  readonly changedAt: number;
  readonly kind: 'plain' | 'compressed' | 'link';
}

/** More names than this no folder of logs has. */
const MAX_NAMES = 10_000;
/** A mark of fewer bytes would fit files by chance. */
export const TELLING_BYTES = 16;

export const keyOf = ({ device, inode }: { readonly device: string; readonly inode: string }): string =>
  `${device}:${inode}`;

/** Oldest first. Empty where the folder cannot be listed. */
export async function rotatedFiles(path: string): Promise<readonly RotatedFile[]> {
  const folder = dirname(path);
  const isRotated = rotatedName(basename(path));
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => isRotated(name) !== null)
      .slice(0, MAX_NAMES)
      .map(async (name): Promise<RotatedFile | null> => {
        const at = await lstat(join(folder, name), { bigint: true }).catch(() => null);
        if (at === null || !(at.isFile() || at.isSymbolicLink())) return null;
        return {
          path: join(folder, name),
          key: `${at.dev}:${at.ino}`,
          changedAt: changeOf(at),
          kind: at.isFile() ? (isRotated(name) ?? 'plain') : 'link',
        };
      }),
  );
  return found.filter((file) => file !== null).toSorted((a, b) => a.changedAt - b.changedAt);
}

function rotatedName(log: string): (name: string) => 'plain' | 'compressed' | null {
  const end = extname(log);
  const stem = log.slice(0, log.length - end.length);
  const date = '[.-]\\d[\\dT._:-]*';
  const names = new RegExp(
    `^(?:${escaped(log)}${date}|${escaped(stem)}${date}${escaped(end)})(\\.(?:gz|xz|bz2|zst))?$`,
  );
  return (name) => {
    const fit = names.exec(name);
    if (!fit || name === log) return null;
    return fit[1] === undefined ? 'plain' : 'compressed';
  };
}

const escaped = (text: string): string => text.replace(/[^A-Za-z0-9_]/g, '\\$&');

/** A file that goes on from a position, open, with the bytes before it. */
export interface FoundFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly before: Buffer;
}

/**
 * The file of a position, whatever it is called by now: the same inode with the same bytes before the position; else a copy
 * that has them. Null: there is none. `known`: inodes that are something else.
 */
export async function findFile(
  path: string,
  position: FilePosition,
  open: OpenLog,
  known: ReadonlySet<string> = new Set(),
): Promise<FoundFile | null> {
  const rotated = (await rotatedFiles(path)).filter(({ kind, key }) => kind === 'plain' && !known.has(key));
  const isSame = (key: string): boolean => key === keyOf(position);
  const named = await stat(path, { bigint: true }).catch(() => null);
  const nameKey = named ? `${named.dev}:${named.ino}` : '';
  const candidates = [
    ...(named && isSame(nameKey) && !known.has(nameKey) ? [path] : []),
    ...rotated.filter(({ key }) => isSame(key)).map((file) => file.path),
    ...(position.mark !== null && position.markBytes >= TELLING_BYTES
      ? rotated.filter(({ key }) => !isSame(key)).map((file) => file.path)
      : []),
  ];
  for (const candidate of candidates) {
    const opened = await open(candidate);
    if (!opened.ok) continue;
    const before = await bytesBefore(opened.handle, position).catch(() => null);
    if (before) return { path: candidate, handle: opened.handle, before };
    await opened.handle.close();
  }
  return null;
}
