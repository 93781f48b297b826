import { describe, expect, test } from 'vitest';
import { ask, type Graded, questions } from '../../../evals/questions/ask.ts';

const graded = (set: 'develop' | 'check'): readonly Graded[] =>
  questions.filter((each) => each.set === set).flatMap(ask);

describe('forty questions in three wordings each, of the record alone', () => {
  test('are forty, and of every other one no record holds the answer', () => {
    expect(questions).toHaveLength(40);
    expect(questions.filter(({ expect }) => expect !== 'answer')).toHaveLength(21);
    expect(questions.every(({ ask }) => ask.length === 3)).toBe(true);
  });

  test('none is answered with something else', () => {
    expect([...graded('develop'), ...graded('check')].filter(({ grade }) => grade === 'false')).toEqual([]);
  });

  test('those that rules were made with are all right', () => {
    expect(graded('develop').filter(({ grade }) => grade !== 'right')).toEqual([]);
  });
});
