import { randomUUID } from 'node:crypto';
import { chownSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { OpsError } from '../../core/errors.ts';

/**
 * Replaces a small file whole: readers see the old or the new text, also after a kill in between. Mode 0600. When
 * root writes into a folder of an ordinary user the file is given to that user, who may start Sentry next time.
 */
export function writeStateFile(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  if (process.getuid?.() === 0) {
    const folder = statSync(dirname(path));
    if (folder.uid !== 0) chownSync(draft, folder.uid, folder.gid);
  }
  renameSync(draft, path);
}

/** The file's text; undefined when there is none. @throws OpsError STATE_UNREADABLE */
export function readStateFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    throw new OpsError('STATE_UNREADABLE', `cannot read ${path}: ${code ?? 'unknown error'}`, {
      hint: `Make ${path} readable for the user who starts Sentry (it was probably written by another user).`,
      cause: error,
    });
  }
}
