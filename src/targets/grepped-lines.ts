import { matchLines } from '../safety/grep/match-lines.ts';

/** Said where `greppedLines` was not complete. */
export const UNSEARCHED =
  'Not all of it was searched: lines are too long or the pattern takes too long. A simpler pattern, or a shorter time, may do.';

/** Of the lines of a log, newest last, those that a pattern fits; all without one. `isComplete`: each was tried, to its end. */
export async function greppedLines<L>(
  lines: readonly L[],
  textOf: (line: L) => string,
  grep: string | undefined,
  { signal }: { readonly signal: AbortSignal },
): Promise<{ readonly found: readonly L[]; readonly isComplete: boolean }> {
  if (grep === undefined) return { found: lines, isComplete: true };
  const { hits, complete } = await matchLines(
    {
      patterns: [{ pattern: grep, ignoreCase: true, literal: false }],
      lines: lines.map(textOf),
      newestFirst: true,
      maxHits: lines.length,
      maxMs: 5_000,
    },
    signal,
  );
  const at = new Set(hits.map(({ line }) => line));
  return { found: lines.filter((_, index) => at.has(index)), isComplete: complete };
}
