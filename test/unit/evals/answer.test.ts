import { describe, expect, it } from 'vitest';
import { AnswerLine } from '../../../evals/score/answer.ts';
import { scoreAnswers } from '../../../evals/score/score-answers.ts';
import { aScenario } from './support.ts';

describe('an answer from outside', () => {
  it.each([
    ['flat, in snake case', { root_cause: 'The disk is full.', ruled_out: ['CPU'] }],
    ['flat, in our names', { rootCause: 'The disk is full.', ruledOut: 'CPU' }],
    ['under diagnosis', { diagnosis: { rootCause: 'The disk is full.', ruledOut: ['CPU'] } }],
    ['as a bare text', { answer: 'The disk is full.', ruledOut: ['CPU'] }],
    ['as a bare text under diagnosis', { diagnosis: 'The disk is full.', ruledOut: ['CPU'] }],
    ['under answer', { answer: { cause: 'The disk is full.', ruled_out: ['CPU'] } }],
  ])('is read %s', (_, given) => {
    expect(AnswerLine.parse({ id: 'one', ...given })).toMatchObject({
      verdict: 'cause_found',
      rootCause: 'The disk is full.',
      confidence: 1,
      ruledOut: ['CPU'],
    });
  });

  it.each([
    [{ root_cause: '', category: null }, 'cannot_tell'],
    [{ root_cause: 'x', category: 'unknown' }, 'cannot_tell'],
    [{ root_cause: 'x', category: 'healthy' }, 'healthy'],
    [{ root_cause: 'x', verdict: 'cannot tell' }, 'cannot_tell'],
    [{ root_cause: 'No active failure; metrics are normal.' }, 'healthy'],
    [{ root_cause: 'I cannot tell, for the log is missing.' }, 'cannot_tell'],
    [{ root_cause: 'The pod is unhealthy because of OOM.' }, 'cause_found'],
    [{ root_cause: 'Nothing wrong here', category: 'resource_exhaustion' }, 'cause_found'],
  ])('%j means %s', (given, verdict) => {
    expect(AnswerLine.parse({ id: 'one', ...given }).verdict).toBe(verdict);
  });

  it('is refused with the field that is wrong', () => {
    const parsed = AnswerLine.safeParse({ id: 'one', root_cause: 'x', confidence: 7 });
    expect(parsed.error?.issues[0]?.path).toEqual(['confidence']);
    expect(AnswerLine.safeParse({ root_cause: 'x' }).success).toBe(false);
  });

  it('counts as an abstention when there is none, and is named when it answers nothing', () => {
    const scored = scoreAnswers(
      [aScenario({ id: 'one' }), aScenario({ id: 'two' })],
      [
        AnswerLine.parse({ id: 'one', root_cause: 'The importer holds a lock on stock.' }),
        AnswerLine.parse({ id: 'x' }),
      ],
    );
    expect(scored.summary).toMatchObject({
      incidents: 2,
      correct: 1,
      abstained: 1,
      falseCauses: 0,
      score: 0.625,
    });
    expect(scored.incidents[1]).toMatchObject({ answered: false, outcome: 'abstained' });
    expect(scored.unknownIds).toEqual(['x']);
  });
});
