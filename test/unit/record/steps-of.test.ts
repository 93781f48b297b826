import { expect, test } from 'vitest';
import { stepsOf } from '../../../src/core/action.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { anAction } from '../../support/incident-record.ts';

const id = (n: number) => asActionId(`act_00000000000${n}`);

test('the steps of a plan are found from any of them, in their order, and no other action among them', () => {
  const first = anAction({ id: id(1) });
  const second = anAction({ id: id(2), planId: id(1), step: 2, state: 'queued' });
  const third = anAction({ id: id(3), planId: id(1), step: 3, state: 'queued' });
  const alone = anAction({ id: id(4) });
  const all = [third, alone, first, second];
  expect(stepsOf(all, second)).toEqual([first, second, third]);
  expect(stepsOf(all, alone)).toEqual([alone]);
});
