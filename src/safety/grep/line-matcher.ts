import type { Refusal } from '../../core/errors.ts';
import { type Automaton, isWord, parsePattern, type Step } from './parse-pattern.ts';

/** Whether a line matches; time linear in the line's length, whatever the pattern and the line. */
export type LineMatcher = (line: string) => boolean;

/** What makes a pattern more than words with `|` between them. */
const special = /[.[\](){}*+?^$\\]/;

/** A matcher of one line. A pattern without special characters, or words divided by `|`, is looked for as plain text. */
export function lineMatcher(
  pattern: string,
  options: { readonly ignoreCase: boolean; readonly literal: boolean },
): { readonly ok: true; readonly matches: LineMatcher } | Refusal {
  const parsed = parsePattern(
    options.literal
      ? pattern.replaceAll(/[|.[\](){}*+?^$\\]/g, '\\$&').slice(0, pattern.length * 2)
      : pattern,
    options.ignoreCase,
  );
  if (options.literal || !special.test(pattern)) {
    const words = options.literal ? [pattern] : pattern.split('|');
    if (!words.includes('')) return { ok: true, matches: plainMatcher(words, options.ignoreCase) };
  }
  return parsed.ok ? { ok: true, matches: (line) => matchesSomewhere(parsed, line) } : parsed;
}

function plainMatcher(words: readonly string[], ignoreCase: boolean): LineMatcher {
  if (!ignoreCase) return (line) => words.some((word) => line.includes(word));
  const lower = words.map((word) => word.toLowerCase());
  return (line) => {
    const folded = line.toLowerCase();
    return lower.some((word) => folded.includes(word));
  };
}

/** All states at once, character by character; a state is visited at most once a character. */
function matchesSomewhere({ steps, start }: Automaton, line: string): boolean {
  const seen = new Int32Array(steps.length).fill(-1);
  let current: number[] = [];
  let matched = false;

  const enter = (index: number, at: number, into: number[]): void => {
    const pending = [index];
    for (let top = pending.pop(); top !== undefined; top = pending.pop()) {
      if (seen[top] === at) continue;
      seen[top] = at;
      const step = steps[top];
      if (step === undefined) continue;
      if (step.kind === 'match') matched = true;
      else if (step.kind === 'character') into.push(top);
      else if (step.kind === 'fork') pending.push(...step.next);
      else if (holds(step, line, at)) pending.push(step.next);
    }
  };

  for (let at = 0; at <= line.length; at += 1) {
    const next: number[] = [];
    const before = line[at - 1];
    if (before !== undefined)
      for (const index of current) {
        const step = steps[index];
        if (step?.kind === 'character' && step.fits(before)) enter(step.next, at, next);
      }
    enter(start, at, next);
    if (matched) return true;
    current = next;
  }
  return false;
}

function holds(step: Extract<Step, { kind: 'edge' }>, line: string, at: number): boolean {
  if (step.edge === '^') return at === 0;
  if (step.edge === '$') return at === line.length;
  const boundary = isWord(line[at - 1] ?? '') !== isWord(line[at] ?? '');
  return boundary === (step.edge === 'b');
}
