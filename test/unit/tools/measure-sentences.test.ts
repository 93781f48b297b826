import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBound, isYesOrNo, type Measure, staysAsItIs } from '../../../src/core/measure.ts';
import { allTools } from '../../../src/targets/all-tools.ts';

/** How people read on a card when something counts as fixed: a sentence, whichever measure it is and whatever its bound. */
const measures = allTools.flatMap((tool) =>
  'measures' in tool
    ? ((tool.measures ?? []) as readonly Measure[]).map((measure) => ({
        name: `${tool.name}.${measure.name}`,
        measure,
      }))
    : [],
);
const VERB =
  /\b(is|are|has|have|hold|holds|uses|used|wait|allow|stays|take|takes|runs?|lasts|expires|grows|send|passes|reached|rotated|does|do)\b/;

describe.each(measures)('$name', ({ measure }) => {
  it('says what must hold as a sentence: a subject, a verb, and its number with its unit', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(0, 1, 3, measure.bound), fc.integer({ min: 0, max: 5_000 })),
        (bound) => {
          const says = formatBound(measure, bound);
          expect(says).not.toMatch(/[:{}]|undefined|\.$/);
          const [verb] = VERB.exec(says) ?? [];
          expect({ says, verb }).toMatchObject({ verb: expect.any(String) });
          // Something stands before its verb that has it.
          expect(says.indexOf(verb ?? '')).toBeGreaterThan(0);
          if (isYesOrNo(measure) || staysAsItIs(measure) || measure.unit === '') return;
          expect(says).toContain(measure.unit);
          expect(says).toMatch(/\b(no|at most|at least) /);
        },
      ),
    );
  });
});

it('looks at every kind of system that has measures', () => {
  expect(measures.length).toBeGreaterThan(50);
  expect(measures.map(({ measure }) => formatBound(measure, 0))).toContain('no sessions wait for a lock');
});
