import type { Scenario } from '../replay/scenario.ts';

/** Two recorded incidents that share more of what their tools printed than they should. */
export interface AlikePair {
  readonly one: string;
  readonly other: string;
  /** Of the lines of the shorter of the two, 0–1. */
  readonly share: number;
}

/**
 * The pairs that share more than `most` of their tool output. Compared are the distinct lines, each with the tool that
 * printed it, as they stand: a pid or a number that differs makes another line, and so does another tool. The share is of
 * the shorter recording, so that a short one cannot hide in a long one. Worst first.
 */
export function alikePairs(scenarios: readonly Scenario[], most = 0.5): readonly AlikePair[] {
  const printed = scenarios.map(({ id, tool_outputs }) => ({
    id,
    lines: new Set(
      tool_outputs.flatMap(({ tool, output }) =>
        output
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== '')
          .map((line) => `${tool} ${line}`),
      ),
    ),
  }));
  return printed
    .flatMap(({ id: one, lines: a }, at) =>
      printed.slice(at + 1).map(({ id: other, lines: b }): AlikePair => {
        const shorter = Math.min(a.size, b.size);
        return {
          one,
          other,
          share: shorter === 0 ? 1 : [...a].filter((line) => b.has(line)).length / shorter,
        };
      }),
    )
    .filter(({ share }) => share > most)
    .toSorted((a, b) => b.share - a.share);
}
