import { count } from '../../core/count.ts';

/** Characters of one line; longer ones are cut, since one line may be a whole document. */
const MAX_LINE = 500;
/** Characters of one answer; the reader pages on. */
export const MAX_ANSWER = 8_000;

/** A line with its number, from 1, so that more can be asked for around it. */
export function numbered(line: string, number: number): string {
  return `${number}: ${line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}… (${count(line.length, 'character')})` : line}`;
}

/** As many of them as fit, at least one. */
export function fitting(lines: readonly string[]): readonly string[] {
  let size = 0;
  const end = lines.findIndex((line) => {
    size += line.length + 1;
    return size > MAX_ANSWER;
  });
  return end < 0 ? lines : lines.slice(0, Math.max(1, end));
}
