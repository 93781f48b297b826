import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineMatcher } from '../../../src/safety/grep/line-matcher.ts';
import { cpuClock } from '../../support/cpu-clock.ts';

function matches(pattern: string, line: string, ignoreCase = false): boolean {
  const matcher = lineMatcher({ pattern, ignoreCase, literal: false });
  if (!matcher.ok) throw new Error(matcher.reason);
  return matcher.matches(line);
}

/** Patterns of the supported kind. */
const pattern = fc.letrec<{ all: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom('a', 'b', 'c', '.', '\\d', '\\w', '\\s', '[ab]', '[^a]', '[a-c]', '\\.'),
    },
    { weight: 1, arbitrary: fc.constantFrom('\\b', '^', '$') },
    { weight: 2, arbitrary: tie('all').map((inner) => `(?:${inner})`) },
  ),
  all: fc
    .array(
      fc
        .tuple(tie('atom'), fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '|'))
        .map(([atom, times]) => (/^(?:\\b|\^|\$)$/.test(atom) && times !== '|' ? atom : atom + times)),
      { minLength: 1, maxLength: 5 },
    )
    .map((parts) => parts.join('')),
})).all;

test('says the same as the regular expressions of JavaScript', () => {
  fc.assert(
    fc.property(
      pattern,
      fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', '1', ' ', '.'), maxLength: 12 }),
      (source, line) => {
        fc.pre(source.length <= 200);
        const matcher = lineMatcher({ pattern: source, ignoreCase: false, literal: false });
        // Repeats of repeats multiply: what grows past the bound is refused by name, and nothing else is.
        if (!matcher.ok) expect(matcher.reason).toMatch(/repeats too much|invalid repeat count/);
        fc.pre(matcher.ok);
        expect(matcher.ok && matcher.matches(line)).toBe(new RegExp(source).test(line));
      },
    ),
    { numRuns: Number(process.env['FUZZ_RUNS'] ?? 2_000) },
  );
});

test.each([
  ['(a+)+$', 'a'.repeat(100_000) + '!'],
  ['(a|a)*b', 'a'.repeat(100_000)],
  ['(.*)*x', 'y'.repeat(100_000)],
  ['(?:a?){30}a{30}', 'a'.repeat(29)],
])('%s takes time in the measure of the line only', (source, line) => {
  const cpuMs = cpuClock();
  expect(matches(source, line)).toBe(false);
  expect(cpuMs()).toBeLessThan(10_000);
});

test.each([
  ['(?=a)', 'unsupported Perl syntax: `(?=`'],
  ['(?<=a)b', 'no look-around'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['(a', 'missing closing )'],
  ['a{1000}b', 'repeats too much'],
  ['(?:a{20}){60}', 'invalid repeat count'],
  ['', '1 to 200 characters'],
  ['a'.repeat(201), '1 to 200 characters'],
])('%s is refused with what is wrong with it', (source, reason) => {
  const matcher = lineMatcher({ pattern: source, ignoreCase: true, literal: false });
  expect(matcher).toMatchObject({ ok: false, code: 'PATTERN' });
  expect(!matcher.ok && matcher.reason).toContain(reason);
});

test('alternatives of words, and plain text with marks in it, mean themselves', () => {
  expect(matches('error|panic', 'kernel: PANIC', true)).toBe(true);
  expect(matches('error|panic', 'all well', true)).toBe(false);
  const literal = lineMatcher({ pattern: 'a.b(c', ignoreCase: false, literal: true });
  expect(literal.ok && [literal.matches('x a.b(c'), literal.matches('axb(c')]).toEqual([true, false]);
});
