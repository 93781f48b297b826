import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Expected, expectedVerdict } from '../../../evals/replay/scenario.ts';
import type { Answer } from '../../../evals/score/answer.ts';
import { ABSTAINED, scoreAnswer } from '../../../evals/score/score.ts';
import { anAnswer, aScenario } from './support.ts';

const expected = aScenario({
  expected: {
    root_cause: 'The importer holds a lock on table stock, behind which the storefront waits.',
    keywords: ['importer', 'lock'],
    keyword_groups: [['storefront', 'shop front']],
    forbidden_keywords: ['connection leak'],
    forbidden_categories: ['connection_exhaustion', 'healthy'],
    needed_evidence: [['4 blocked', 'four sessions']],
    red_herrings: ['CPU'],
  },
}).expected;
const gold = anAnswer({
  rootCause: expected.root_cause,
  category: 'blocked_sessions',
  evidence: [{ claim: 'Sessions wait.', quote: '4 blocked by 1' }],
});
const score = (answer: Partial<Answer>, of: Expected = expected) => scoreAnswer(of, anAnswer(answer));

describe('the scorer', () => {
  it('gives a gold answer everything', () => {
    expect(scoreAnswer(expected, gold)).toEqual({
      score: 1,
      outcome: 'correct',
      falseCause: false,
      notes: [],
    });
  });

  it('puts a confident wrong answer below an abstention, and that below a half right one', () => {
    const wrong = score({ rootCause: 'The disk is full.', confidence: 1 });
    const abstention = score({ verdict: 'cannot_tell', rootCause: 'I could not read the locks.' });
    const partial = score(
      { rootCause: 'Something holds a lock and the storefront feels it.' },
      {
        ...expected,
        keywords: [...expected.keywords, 'table'],
      },
    );
    expect(wrong).toMatchObject({ score: 0, outcome: 'wrong', falseCause: true });
    expect(abstention).toMatchObject({ score: ABSTAINED, outcome: 'abstained', falseCause: false });
    expect(partial.outcome).toBe('partial');
    expect(partial.score).toBeGreaterThan(ABSTAINED);
  });

  it('is harder on who is surer of a wrong answer', () => {
    const sure = score({ rootCause: 'The disk is full.', confidence: 0.95 });
    const unsure = score({ rootCause: 'The disk is full.', confidence: 0.3 });
    expect(sure.score).toBeLessThan(unsure.score);
    expect(unsure.score).toBeLessThan(ABSTAINED);
  });

  it('counts the right words for nothing beside a forbidden one', () => {
    const answer = { ...gold, rootCause: `${gold.rootCause} It is a connection leak.` };
    expect(scoreAnswer(expected, answer)).toMatchObject({ outcome: 'wrong', falseCause: true });
  });

  it('does not take a denial for an assertion', () => {
    for (const text of [
      'It is not a connection leak.',
      'This rules out a connection leak.',
      'A connection leak is ruled out.',
      'The importer, rather than a connection leak, is to blame.',
    ])
      expect(scoreAnswer(expected, { ...gold, rootCause: `${gold.rootCause} ${text}` }).outcome).toBe(
        'correct',
      );
    expect(
      scoreAnswer(expected, {
        ...gold,
        rootCause: `${gold.rootCause} It is not the disk. A connection leak is.`,
      }).outcome,
    ).toBe('wrong');
  });

  it('takes a forbidden category for a wrong answer, however it is written', () => {
    expect(scoreAnswer(expected, { ...gold, category: 'Connection Exhaustion' }).outcome).toBe('wrong');
  });

  it('takes "healthy" for wrong where something was, and a cause for a false one where nothing was', () => {
    expect(score({ verdict: 'healthy', rootCause: 'All is well.' })).toMatchObject({
      outcome: 'wrong',
      falseCause: false,
    });
    const healthy = aScenario({ expected: { root_cause: 'Healthy.', healthy: true } }).expected;
    expect(scoreAnswer(healthy, gold)).toMatchObject({ outcome: 'wrong', falseCause: true });
    expect(scoreAnswer(healthy, anAnswer({ verdict: 'healthy' })).score).toBe(1);
    expect(scoreAnswer(healthy, anAnswer({ verdict: 'cannot_tell' })).score).toBe(ABSTAINED);
  });

  it('wants "cannot tell" to name what could not be read', () => {
    const blind = aScenario({
      expected: {
        verdict: 'cannot_tell',
        root_cause: 'Cannot tell: GRANT pg_monitor.',
        keywords: ['pg_monitor'],
      },
    }).expected;
    const said = anAnswer({ verdict: 'cannot_tell', unknown: ['Grant pg_monitor to the role.'] });
    expect(scoreAnswer(blind, said).score).toBe(1);
    expect(scoreAnswer(blind, { ...said, unknown: [] }).score).toBeLessThan(0.5);
    expect(scoreAnswer(blind, gold)).toMatchObject({ score: 0.02, falseCause: true });
  });

  it('takes something off for missing evidence and for a red herring taken as evidence', () => {
    const without = scoreAnswer(expected, { ...gold, evidence: [] });
    const herring = scoreAnswer(expected, {
      ...gold,
      evidence: [...gold.evidence, { claim: 'CPU is at 90 %.', quote: null }],
    });
    expect(without).toMatchObject({ score: 0.8, outcome: 'correct' });
    expect(herring).toMatchObject({ score: 0.9, outcome: 'correct' });
  });

  it('asks for no word that not even the expected cause says', () => {
    const odd = { ...expected, keywords: [...expected.keywords, 'zeitgeist'] };
    expect(scoreAnswer(odd, gold).score).toBe(1);
  });

  it('does not read on where everything that may be is listed', () => {
    const everything = `${'It may be anything. '.repeat(100)}${expected.root_cause}`;
    expect(score({ rootCause: everything }).outcome).toBe('wrong');
  });
});

const words = fc.array(fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'epsilon'), {
  minLength: 1,
  maxLength: 4,
});
const expectations = fc
  .record({
    cause: words,
    verdict: fc.constantFrom('cause_found', 'healthy', 'cannot_tell'),
    needed: fc.array(words, { maxLength: 2 }),
    forbidden: fc.array(fc.constantFrom('omega', 'sigma'), { maxLength: 2 }),
  })
  .map(
    ({ cause, verdict, needed, forbidden }) =>
      aScenario({
        expected: {
          verdict,
          root_cause: cause.join(' '),
          keywords: cause,
          needed_evidence: needed,
          forbidden_keywords: forbidden,
        },
      }).expected,
  );
const answers = fc
  .record({
    verdict: fc.constantFrom('cause_found', 'healthy', 'cannot_tell'),
    rootCause: fc
      .array(fc.constantFrom('alpha', 'beta', 'gamma', 'omega', 'sigma', 'not', '.'), { maxLength: 8 })
      .map((list) => list.join(' ')),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    evidence: fc.array(fc.record({ claim: fc.string({ maxLength: 20 }), quote: fc.constant(null) }), {
      maxLength: 3,
    }),
  })
  .map((part) => anAnswer(part as Partial<Answer>));

function goldOf(of: Expected): Answer {
  return anAnswer({
    verdict: expectedVerdict(of),
    rootCause: of.root_cause,
    confidence: 1,
    evidence: of.needed_evidence.map(([first = '']) => ({ claim: first, quote: null })),
  });
}

describe('for any expectation and any answer', () => {
  it('the score is a share, says the same again, and no answer beats gold', () => {
    fc.assert(
      fc.property(expectations, answers, (of, answer) => {
        const first = scoreAnswer(of, answer);
        expect(first.score).toBeGreaterThanOrEqual(0);
        expect(first.score).toBeLessThanOrEqual(scoreAnswer(of, goldOf(of)).score);
        expect(scoreAnswer(of, answer)).toEqual(first);
      }),
    );
  });

  it('gold is worth 1', () => {
    fc.assert(
      fc.property(expectations, (of) => {
        expect(scoreAnswer(of, goldOf(of)).score).toBe(1);
      }),
    );
  });

  it('what is wrong is worth less than an abstention, and less the surer it is', () => {
    fc.assert(
      fc.property(expectations, answers, fc.double({ min: 0, max: 1, noNaN: true }), (of, answer, other) => {
        const first = scoreAnswer(of, answer);
        fc.pre(first.outcome === 'wrong');
        expect(first.score).toBeLessThan(ABSTAINED);
        const second = scoreAnswer(of, { ...answer, confidence: other });
        if (other > answer.confidence) expect(second.score).toBeLessThanOrEqual(first.score);
      }),
    );
  });

  it('a false cause is only ever a claimed one', () => {
    fc.assert(
      fc.property(expectations, answers, (of, answer) => {
        if (scoreAnswer(of, answer).falseCause) expect(answer.verdict).toBe('cause_found');
      }),
    );
  });

  it('case, markup and the order of the evidence do not matter', () => {
    fc.assert(
      fc.property(expectations, answers, (of, answer) => {
        const loud = { ...answer, rootCause: answer.rootCause.toUpperCase().replace('ALPHA', '`ALPHA`') };
        expect(scoreAnswer(of, { ...loud, evidence: [...answer.evidence].reverse() }).score).toBe(
          scoreAnswer(of, answer).score,
        );
      }),
    );
  });
});
