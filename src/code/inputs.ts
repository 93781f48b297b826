import { readPathText } from '../safety/paths/path-text.ts';
import { isSecretFile } from '../safety/paths/secret-files.ts';

/**
 * What is wrong with the name of a revision; null: nothing. A tag, a branch or a commit as people and deploys write it. Nothing that git
 * would read as an option, a range, a path, or a question to its own logs (`@{1}`, `^`, `:`).
 */
export function revisionFault(name: string): string | null {
  const isPlain =
    /^[A-Za-z0-9][A-Za-z0-9._/+@-]{0,199}$/.test(name) &&
    !/\.\.|\/\/|\/\.|\.\/|[./]$|\.lock(?:\/|$)/.test(name);
  return isPlain ? null : 'expected the name of a tag or branch, or a commit, like 1.4.2, main or 9bc1d2e';
}

/** A commit by its hash, or the beginning of it. */
export const isSha = (name: string): boolean => /^[0-9a-f]{7,64}$/.test(name);

/** What is wrong with a path inside a repository; null: nothing. */
export function codePathFault(path: string): string | null {
  const read = readPathText(path);
  if (!read.ok) return read.reason;
  if (read.absolute) return 'expected a path from the root of the repository, like src/pool.ts';
  if (
    path.startsWith(':') ||
    read.segments.length === 0 ||
    read.segments.join('/') !== path.replace(/\/$/, '')
  )
    return 'expected a plain path, like src/pool.ts';
  return isHidden(path) ? 'files of credentials are not read' : null;
}

/** Files that are named where they changed, and never shown. */
export const isHidden = (path: string): boolean => isSecretFile(path);
