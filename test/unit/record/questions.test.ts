import { describe, expect, test } from 'vitest';
import { ask, type Graded, halfAwake, questions } from '../../../evals/questions/ask.ts';

const graded = (set: 'develop' | 'check'): readonly Graded[] =>
  questions.filter((each) => each.set === set).flatMap(ask);

describe('questions in three wordings each, of the record alone', () => {
  test('are fifty-two, half of them kept back, and nearly half of them ones whose answer no record holds', () => {
    expect(questions).toHaveLength(52);
    expect(questions.filter(({ set }) => set === 'check')).toHaveLength(26);
    expect(questions.filter(({ expect }) => expect !== 'answer')).toHaveLength(24);
    expect(questions.every(({ ask }) => ask.length === 3)).toBe(true);
  });

  test('none is answered with something else', () => {
    expect([...graded('develop'), ...graded('check')].filter(({ grade }) => grade === 'false')).toEqual([]);
  });

  test('those that rules were made with are all right', () => {
    expect(graded('develop').filter(({ grade }) => grade !== 'right')).toEqual([]);
  });
});

describe('questions of people half awake: short, misspelt, without a question mark', () => {
  const [develop, heldOut] = [halfAwake.develop.flatMap(ask), halfAwake.heldOut.flatMap(ask)];

  test('are sixty-six, half of them held out', () => {
    expect([halfAwake.develop.length, halfAwake.heldOut.length]).toEqual([33, 33]);
    expect([...halfAwake.develop, ...halfAwake.heldOut].every(({ ask }) => ask.length === 3)).toBe(true);
  });

  test('none is answered with something else, and none that is not understood is said not to be on record', () => {
    expect([...develop, ...heldOut].filter(({ grade }) => grade === 'false')).toEqual([]);
  });

  test('nearly all are right', () => {
    expect(develop.filter(({ grade }) => grade === 'right').length).toBeGreaterThanOrEqual(98);
    expect(heldOut.filter(({ grade }) => grade === 'right').length).toBeGreaterThanOrEqual(90);
  });
});
