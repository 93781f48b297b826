/**
 * `text` without the marks it begins and ends with. `/[marks]+$/` says the same, and takes quadratic time over a run of marks
 * that is not the end.
 */
export function trimMarks(
  text: string,
  { before, after }: Readonly<Record<'before' | 'after', string>>,
): string {
  let start = 0;
  let end = text.length;
  while (start < end && isMark(text, start, before)) start += 1;
  while (end > start && isMark(text, end - 1, after)) end -= 1;
  return text.slice(start, end);
}

/** A space among the marks stands for whatever is one. */
function isMark(text: string, at: number, marks: string): boolean {
  const char = text.charAt(at);
  return marks.includes(char) || (marks.includes(' ') && char.trim() === '');
}
