import { describe, expect, it } from 'vitest';
import { shownOutput } from '../../../src/agents/claude/shown-output.ts';

const lines = (count: number) =>
  Array.from({ length: count }, (_, n) => `line ${n + 1} of a long log`).join('\n');

describe('an output in a history', () => {
  it('is whole when it is short', () => {
    expect(shownOutput('two\nlines')).toEqual({ output: 'two\nlines' });
  });

  it('shows its beginning and its end when it is long, and says which lines are missing', () => {
    const { output, cut = '' } = shownOutput(lines(1_000));
    expect(output.length).toBeLessThan(6_100);
    expect(output.startsWith('line 1 of')).toBe(true);
    expect(output.endsWith('line 1000 of a long log')).toBe(true);
    const [, from, to] = /lines (\d+) to (\d+) of 1000/.exec(cut) ?? [];
    expect(output).toContain(`line ${Number(from) - 1} of`);
    expect(output).not.toContain(`line ${from} of`);
    expect(output).not.toContain(`line ${to} of`);
    expect(output).toContain(`line ${Number(to) + 1} of`);
  });

  it('is cut also when it is one line', () => {
    expect(shownOutput('x'.repeat(50_000)).output.length).toBeLessThan(6_100);
  });
});
