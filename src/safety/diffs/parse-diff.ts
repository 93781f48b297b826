import { type Refusal, refuse } from '../../core/errors.ts';
import { readHeader } from './diff-header.ts';
import {
  type DiffLimits,
  defaultDiffLimits,
  type FilePatch,
  type Hunk,
  type ParsedDiff,
} from './patch-types.ts';

const hunkHeader = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?$/u;

/** Trojan Source (CVE-2021-42574): what a person approves must be what the compiler reads. */
const deceptive = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u200b\ufeff]/u;

/**
 * Reads a unified diff strictly: what is not a file header, a hunk or its lines is refused, so that nothing is applied
 * that nobody saw. Pure.
 */
export function parseDiff(text: string, limits: DiffLimits = defaultDiffLimits): ParsedDiff | Refusal {
  if (Buffer.byteLength(text) > limits.maxBytes)
    return refuse('DIFF_TOO_LARGE', `The diff has more than ${limits.maxBytes} bytes.`);
  if (text.includes('\0')) return refuse('DIFF_BINARY', 'The diff holds a NUL byte.');
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const files: FilePatch[] = [];
  let at = 0;
  while (at < lines.length) {
    const read = readFile(lines, at);
    if ('ok' in read) return read;
    files.push(read.file);
    at = read.next;
  }
  return refuseWhole(files, limits) ?? { ok: true, files };
}

function readFile(
  lines: readonly string[],
  start: number,
): { readonly file: FilePatch; readonly next: number } | Refusal {
  let at = start;
  while (at < lines.length && !lines[at]?.startsWith('@@')) at += 1;
  const header = readHeader(lines.slice(start, at));
  if ('ok' in header) return header;
  const hunks: Hunk[] = [];
  while (lines[at]?.startsWith('@@')) {
    const read = readHunk(lines, at);
    if ('ok' in read) return read;
    hunks.push(read.hunk);
    at = read.next;
  }
  const body = hunks.flatMap((hunk) => hunk.lines);
  const added = body.filter((line) => line.startsWith('+')).length;
  const removed = body.filter((line) => line.startsWith('-')).length;
  const file = { ...header, hunks, added, removed };
  return refuseFile(file) ?? { file, next: at };
}

function readHunk(
  lines: readonly string[],
  start: number,
): { readonly hunk: Hunk; readonly next: number } | Refusal {
  const match = hunkHeader.exec(lines[start] ?? '');
  if (!match) return refuse('DIFF_HUNK', `Line ${start + 1} is no hunk header "@@ -1,2 +1,3 @@".`);
  const [oldStart, oldCount, newStart, newCount] = [match[1], match[2] ?? '1', match[3], match[4] ?? '1'].map(
    Number,
  );
  let [old, next, at] = [oldCount ?? 0, newCount ?? 0, start + 1];
  const taken: string[] = [];
  while (at < lines.length && (old > 0 || next > 0 || lines[at]?.startsWith('\\'))) {
    // Editors strip the space of an empty context line; git reads it as one, too.
    const line = lines[at] || ' ';
    const kind = line[0];
    if (kind === ' ' || kind === '-') old -= 1;
    if (kind === ' ' || kind === '+') next -= 1;
    const marker =
      line === '\\ No newline at end of file' && taken.length > 0 && !taken.at(-1)?.startsWith('\\');
    if (!/^[ +-]$/u.test(kind ?? '') && !marker)
      return refuse('DIFF_HUNK', `Line ${at + 1} is no line of a hunk: it needs " ", "+" or "-" before it.`);
    taken.push(line);
    at += 1;
  }
  if (old !== 0 || next !== 0)
    return refuse(
      'DIFF_HUNK',
      `The hunk at line ${start + 1} has other numbers of lines than its header says.`,
    );
  const hunk = {
    oldStart: oldStart ?? 0,
    oldCount: oldCount ?? 0,
    newStart: newStart ?? 0,
    newCount: newCount ?? 0,
    lines: taken,
  };
  return { hunk, next: at };
}

function refuseFile(file: FilePatch): Refusal | undefined {
  if (file.hunks.length === 0 || file.added + file.removed === 0)
    return refuse('DIFF_EMPTY', `The diff changes nothing in ${file.path}.`);
  if (file.kind === 'create' && !file.hunks.every(({ oldCount }) => oldCount === 0))
    return refuse('DIFF_HUNK', `${file.path} is to be created but the diff removes lines from it.`);
  if (file.kind === 'delete' && !file.hunks.every(({ newCount }) => newCount === 0))
    return refuse('DIFF_HUNK', `${file.path} is to be deleted but the diff adds lines to it.`);
  let end = 0;
  for (const { oldStart, oldCount } of file.hunks) {
    if (oldStart < end) return refuse('DIFF_HUNK', `The hunks of ${file.path} overlap or are out of order.`);
    end = oldStart + Math.max(oldCount, 1);
  }
  const hidden = file.hunks.some(({ lines }) =>
    lines.some((line) => line.startsWith('+') && deceptive.test(line)),
  );
  return hidden
    ? refuse(
        'DIFF_DECEPTIVE',
        `${file.path}: an added line holds an invisible or direction-changing character.`,
      )
    : undefined;
}

function refuseWhole(files: readonly FilePatch[], limits: DiffLimits): Refusal | undefined {
  if (files.length === 0) return refuse('DIFF_EMPTY', 'The diff is empty.');
  if (files.length > limits.maxFiles) return refuse('DIFF_TOO_LARGE', `More than ${limits.maxFiles} files.`);
  const changed = files.reduce((sum, { added, removed }) => sum + added + removed, 0);
  if (changed > limits.maxChangedLines)
    return refuse('DIFF_TOO_LARGE', `More than ${limits.maxChangedLines} changed lines.`);
  const names = files.map(({ path }) => path.normalize('NFKC').toLowerCase());
  if (new Set(names).size !== names.length) return refuse('DIFF_HEADER', 'A file appears twice.');
  if (!limits.allowDelete && files.some(({ kind }) => kind === 'delete'))
    return refuse('DIFF_DELETE', 'Deleting files is not allowed.');
  return undefined;
}

/** The diff written again from what was read: what git sees is what was checked, whatever the original looked like. */
export function renderDiff(files: readonly FilePatch[]): string {
  return files.map(renderFile).join('');
}

function renderFile({ kind, path, hunks }: FilePatch): string {
  const mode =
    kind === 'create' ? ['new file mode 100644'] : kind === 'delete' ? ['deleted file mode 100644'] : [];
  const head = [
    `diff --git a/${path} b/${path}`,
    ...mode,
    kind === 'create' ? '--- /dev/null' : `--- a/${path}`,
    kind === 'delete' ? '+++ /dev/null' : `+++ b/${path}`,
  ];
  const body = hunks.flatMap(({ oldStart, oldCount, newStart, newCount, lines }) => [
    `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`,
    ...lines,
  ]);
  return `${[...head, ...body].join('\n')}\n`;
}
