import { describe, expect, test } from 'vitest';
import { ask, type Graded, questions } from '../../../evals/questions/ask.ts';

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
