import { type Refusal, refuse } from '../../core/errors.ts';
import { readPathText } from '../paths/path-text.ts';
import type { FilePatch } from './patch-types.ts';

/** What git can say between `diff --git` and the hunks that is more than a change of text. */
const forbidden: readonly (readonly [RegExp, string, string])[] = [
  [/^(?:old|new) mode /u, 'DIFF_MODE', 'Changing a file mode is not allowed.'],
  [/^(?:rename|copy|similarity|dissimilarity) /u, 'DIFF_RENAME', 'Renames and copies are not allowed.'],
  [/^(?:GIT binary patch|Binary files |literal |delta )/u, 'DIFF_BINARY', 'Binary patches are not allowed.'],
  [
    /^(?:new|deleted) file mode (?!100644$)/u,
    'DIFF_MODE',
    'Only plain files (mode 100644) are created or deleted.',
  ],
  [
    /^index (?![0-9a-f]{4,64}\.\.[0-9a-f]{4,64}(?: 100(?:644|755))?$)/u,
    'DIFF_MODE',
    'Links and submodules are not changed.',
  ],
];

const harmless = /^(?:index |new file mode 100644$|deleted file mode 100644$)/u;

/** Reads the lines before a file's first hunk. `lines` are the headers only. */
export function readHeader(lines: readonly string[]): Pick<FilePatch, 'kind' | 'path'> | Refusal {
  for (const line of lines) {
    const hit = forbidden.find(([pattern]) => pattern.test(line));
    if (hit) return refuse(hit[1], hit[2]);
  }
  const old = lines.filter((line) => line.startsWith('--- '));
  const next = lines.filter((line) => line.startsWith('+++ '));
  const git = lines.filter((line) => line.startsWith('diff '));
  const rest = lines.filter((line) => !/^(?:--- |\+\+\+ |diff --git )/u.test(line) && !harmless.test(line));
  if (old.length !== 1 || next.length !== 1 || git.length > 1 || rest.length > 0)
    return refuse(
      'DIFF_HEADER',
      'Each file needs exactly one "--- a/path" and one "+++ b/path" line, and nothing else.',
    );
  const names = readNames(old[0] ?? '', next[0] ?? '');
  if ('ok' in names) return names;
  return refuseDisagreement(names, lines, git[0]) ?? names;
}

function readNames(old: string, next: string): Pick<FilePatch, 'kind' | 'path'> | Refusal {
  const from = readName(old.slice(4), 'a/');
  const to = readName(next.slice(4), 'b/');
  if (from === undefined || to === undefined || (from === null && to === null))
    return refuse(
      'DIFF_PATH',
      'Paths are written as "--- a/path" and "+++ b/path", unquoted, or "/dev/null".',
    );
  const path = to ?? from ?? '';
  if (from !== null && to !== null && from !== to)
    return refuse('DIFF_RENAME', `The diff reads ${from} and writes ${to}.`);
  const read = readPathText(path);
  if (!read.ok) return refuse('DIFF_PATH', read.reason);
  if (read.absolute || read.segments.join('/') !== path)
    return refuse('DIFF_PATH', 'A path in a diff is relative and written without "." or empty segments.');
  return { path, kind: from === null ? 'create' : to === null ? 'delete' : 'modify' };
}

/** The path without prefix and time stamp; null for /dev/null; undefined when it is neither. */
function readName(text: string, prefix: string): string | null | undefined {
  const name = text.split('\t')[0] ?? '';
  if (name === '/dev/null') return null;
  return name.startsWith(prefix) && !name.includes('"') ? name.slice(prefix.length) : undefined;
}

/** The lines of one header must tell one story: git believes one of them, a person reads another. */
function refuseDisagreement(
  names: Pick<FilePatch, 'kind' | 'path'>,
  lines: readonly string[],
  git: string | undefined,
): Refusal | undefined {
  if (git !== undefined && git !== `diff --git a/${names.path} b/${names.path}`)
    return refuse('DIFF_HEADER', 'The "diff --git" line names other files than the "---" and "+++" lines.');
  const created = lines.some((line) => line.startsWith('new file mode'));
  const deleted = lines.some((line) => line.startsWith('deleted file mode'));
  if ((created && names.kind !== 'create') || (deleted && names.kind !== 'delete'))
    return refuse('DIFF_HEADER', 'The header says created or deleted, the paths say otherwise.');
  return undefined;
}
