/** Longer texts are shown as replaced whole: comparing costs lines × lines. */
const MAX_LINES = 1_500;
/** Unchanged lines shown before and after a change. */
const CONTEXT = 2;

/** `+` only in the new text, `-` only in the old one, a space in both; `…` stands for lines left out. */
export interface DiffLine {
  readonly mark: '+' | '-' | ' ' | '…';
  readonly text: string;
}

/** What has to change in `before` to get `after`, line by line, with two lines around each change. Empty: nothing. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  return folded(compared(before.split('\n'), after.split('\n')));
}

/** How many lines come and go. */
export function countChanges(lines: readonly DiffLine[]): {
  readonly added: number;
  readonly removed: number;
} {
  const count = (mark: DiffLine['mark']) => lines.filter((line) => line.mark === mark).length;
  return { added: count('+'), removed: count('-') };
}

function compared(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (text: string): DiffLine => ({ mark: ' ', text });
  return [
    ...before.slice(0, start).map(same),
    ...changed(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** By the longest common subsequence. */
function changed(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const gone = (text: string): DiffLine => ({ mark: '-', text });
  const come = (text: string): DiffLine => ({ mark: '+', text });
  if (Math.max(before.length, after.length) > MAX_LINES) return [...before.map(gone), ...after.map(come)];
  const width = after.length + 1;
  const longest = new Uint16Array((before.length + 1) * width);
  const at = (b: number, a: number): number => longest[b * width + a] ?? 0;
  for (let b = before.length - 1; b >= 0; b -= 1)
    for (let a = after.length - 1; a >= 0; a -= 1)
      longest[b * width + a] =
        before[b] === after[a] ? at(b + 1, a + 1) + 1 : Math.max(at(b + 1, a), at(b, a + 1));
  const lines: DiffLine[] = [];
  let b = 0;
  let a = 0;
  while (b < before.length || a < after.length) {
    if (b < before.length && a < after.length && before[b] === after[a]) {
      lines.push({ mark: ' ', text: before[b] ?? '' });
      b += 1;
      a += 1;
    } else if (a >= after.length || (b < before.length && at(b + 1, a) >= at(b, a + 1))) {
      lines.push(gone(before[b] ?? ''));
      b += 1;
    } else {
      lines.push(come(after[a] ?? ''));
      a += 1;
    }
  }
  return lines;
}

function folded(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = new Set<number>();
  for (const [at, { mark }] of lines.entries())
    if (mark !== ' ') for (let n = at - CONTEXT; n <= at + CONTEXT; n += 1) near.add(n);
  if (near.size === 0) return [];
  const shown: DiffLine[] = [];
  for (const [at, line] of lines.entries())
    if (near.has(at)) shown.push(line);
    else if (shown.at(-1)?.mark !== '…') shown.push({ mark: '…', text: '' });
  return shown;
}
