import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { OpsError } from '../../core/errors.ts';

/**
 * Makes a folder and those above it where they are missing, one by one: Node's own `recursive` (20.20) never ends below
 * `/proc`. @throws OpsError FOLDER when it cannot be made or written to.
 */
export function makeFolder(path: string, mode = 0o755): void {
  try {
    make(path, mode);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new OpsError('FOLDER', `The folder ${path} cannot be used: ${reasons[code] ?? code}.`, {
      hint: 'Name another one by SENTRY_DATA_DIR, or let the user who starts Sentry write there.',
      cause: error,
    });
  }
}

function make(path: string, mode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) make(dirname(path), 0o755);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    throw error;
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'it is a file',
  ENOENT: 'no folder can be made there',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
};
