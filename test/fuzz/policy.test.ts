import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPolicy } from '../../src/actions/policy/read-policy.ts';
import { cpuClock } from '../support/cpu-clock.ts';
import { fuzzRuns } from './runs.ts';

const subjects = { tools: ['a'], neverUnasked: ['b'], targets: [], environments: [''] };

test('whatever the file holds, it is read or refused with lines, at once', () => {
  const scalar = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.constantFrom('*', '&a', '[', '{', '- ', 'rules:', 'name: a', '!!js', '~'),
  );
  fc.assert(
    fc.property(
      fc.array(scalar, { maxLength: 30 }),
      fc.constantFrom(' ', '\n', '\n  ', '\n    '),
      (parts, glue) => {
        const cpuMs = cpuClock();
        const found = readPolicy(parts.join(glue), subjects);
        if ('problems' in found) for (const { line } of found.problems) expect(line).toBeGreaterThan(0);
        expect(cpuMs()).toBeLessThan(3_000);
      },
    ),
    { numRuns: fuzzRuns },
  );
});
