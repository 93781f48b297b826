import { maskedLine } from './masked-line.ts';
import { shortened } from './shortened.ts';

export interface RepeatedLine {
  /** The newest line of the kind that is most frequent, whole; empty when there is no line. */
  readonly line: string;
  /** For a headline. */
  readonly shown: string;
  readonly count: number;
  readonly of: number;
  /** Of all lines, 0–100, whole. */
  readonly percent: number;
}

/** Which kind of line a log repeats most. Lines that differ only in times, ids and numbers are of one kind. */
export function repeatedLine(text: string): RepeatedLine {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const kinds = new Map<string, { count: number; line: string }>();
  for (const line of lines) {
    const mask = maskedLine(line);
    kinds.set(mask, { count: (kinds.get(mask)?.count ?? 0) + 1, line: line.trim() });
  }
  const [top] = [...kinds.values()].toSorted((a, b) => b.count - a.count);
  if (top === undefined) return { line: '', shown: '', count: 0, of: 0, percent: 0 };
  return {
    ...top,
    shown: shortened(top.line),
    of: lines.length,
    percent: Math.floor((100 * top.count) / lines.length),
  };
}
