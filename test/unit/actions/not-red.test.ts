import { expect, it } from 'vitest';
import { notRed } from '../../../src/actions/proposals/aim.ts';
import type { CriterionReading } from '../../../src/actions/recovery/criterion.ts';

const green: CriterionReading = {
  state: 'green',
  alert: null,
  holds: true,
  isToBlame: true,
  steps: [true],
  lines: ['✓ time it has been idle in a transaction: 0 s'],
  values: [0],
  toolCallIds: [],
};

it('calls a problem over by itself only where all that has to hold does', () => {
  expect(notRed(green)).toMatchObject({ code: 'OVER_BY_ITSELF' });
  const another = { ...green, holds: false, lines: [...green.lines, '✗ Not yet: No other session is idle'] };
  const refusal = notRed(another);
  expect(refusal).toMatchObject({ code: 'NOT_TO_BLAME' });
  expect(JSON.stringify(refusal)).not.toContain('over by itself');
});
