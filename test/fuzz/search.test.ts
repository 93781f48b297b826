import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineMatcher } from '../../src/safety/grep/line-matcher.ts';
import { cpuClock } from '../support/cpu-clock.ts';
import { fuzzRuns } from './runs.ts';

const piece = fc.constantFrom(
  ...'ab01.*+?|()[]{}^$\\-,:'.split(''),
  '\\d',
  '\\b',
  '{2,5}',
  '(?:',
  '[^',
  'é',
  '\u{1f600}',
);
const pattern = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.array(piece, { maxLength: 60 }).map((parts) => parts.join('')),
);

test('any pattern on any line is refused or answered, in time', () => {
  fc.assert(
    fc.property(
      pattern,
      fc.string({ maxLength: 2_000 }),
      fc.boolean(),
      fc.boolean(),
      (query, line, ignoreCase, literal) => {
        const cpuMs = cpuClock();
        const matcher = lineMatcher({ pattern: query, ignoreCase, literal });
        if (matcher.ok) expect(typeof matcher.matches(line)).toBe('boolean');
        else expect(matcher.code).toBe('PATTERN');
        expect(cpuMs()).toBeLessThan(3_000);
      },
    ),
    { numRuns: fuzzRuns },
  );
});
