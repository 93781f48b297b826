import { type Refusal, refuse } from '../../core/errors.ts';
import type { FilePatch, Hunk } from './patch-types.ts';

/**
 * The patch in the file's own line ends, each hunk at exactly the line it names: git would look for another place where the same
 * lines stand, and the card has shown this one.
 *
 * @param content as text; null: there is no file yet
 */
export function fitToFile(
  file: FilePatch,
  content: string | null,
): { readonly ok: true; readonly file: FilePatch } | Refusal {
  if (content === null) return { ok: true, file };
  const fitted = hasCarriageReturns(content) ? { ...file, hunks: file.hunks.map(withCarriageReturns) } : file;
  const lines = content.split('\n');
  const moved = fitted.hunks.find((hunk) => !standsAt(lines, hunk));
  return moved
    ? refuse(
        'DIFF_DOES_NOT_APPLY',
        `${file.path}: what the hunk at line ${moved.oldStart} takes away or leaves does not stand there.`,
      )
    : { ok: true, file: fitted };
}

/** In every line, as editors on Windows write them. */
const hasCarriageReturns = (content: string): boolean =>
  content.includes('\n') && !/(?<!\r)\n/u.test(content);

/** No input can carry them (check 6), so a patch of such a file is written without. */
function withCarriageReturns(hunk: Hunk): Hunk {
  const lines = hunk.lines.map((line, at) =>
    line.startsWith('\\') || line.endsWith('\r') || hunk.lines[at + 1]?.startsWith('\\') ? line : `${line}\r`,
  );
  return { ...hunk, lines };
}

function standsAt(lines: readonly string[], { oldStart, oldCount, lines: hunk }: Hunk): boolean {
  const old = hunk.filter((line) => /^[ -]/u.test(line)).map((line) => line.slice(1));
  // Nothing is taken: it stands after the line it names.
  const first = oldCount === 0 ? oldStart : oldStart - 1;
  return first <= lines.length && old.every((line, at) => lines[first + at] === line);
}
