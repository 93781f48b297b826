import { OpsError } from '../../../../core/errors.ts';

/**
 * The words of a command as one line for a POSIX shell, which reads exactly these words from it. Single quotes leave it nothing
 * to act on. Ours is one line; `shell-quote` escapes by backslash and by lists of characters, and has been wrong about them.
 */
export function quoteForShell(argv: readonly string[]): string {
  const nul = argv.find((word) => word.includes('\0'));
  if (nul !== undefined)
    throw new OpsError('HOST_COMMAND', 'A word of the command holds a NUL byte.', { hint: 'Leave it out.' });
  return argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}
