import { describe, expect, it } from 'vitest';
import { alikePairs } from '../../../evals/score/alike.ts';
import { aScenario } from './support.ts';

const recorded = (id: string, ...tool_outputs: readonly (readonly [tool: string, output: string])[]) =>
  aScenario({ id, tool_outputs: tool_outputs.map(([tool, output]) => ({ tool, output })) });

describe('recorded incidents that are too much alike', () => {
  it('are named with their share of the shorter one, the worst pair first', () => {
    const long = recorded('long', ['ps', 'cart 1\nmail 2\nsearch 3\nqueue 4\nproxy 5']);
    const inside = recorded('inside', ['ps', 'cart 1\n  mail 2\nsearch 3']);
    const partly = recorded('partly', ['ps', 'cart 1\nmail 2\nindex 9']);
    const other = recorded('other', ['ps', 'cart 1\nvideo 7']);
    expect(alikePairs([long, inside, partly, other])).toEqual([
      { one: 'long', other: 'inside', share: 1 },
      { one: 'long', other: 'partly', share: 2 / 3 },
      { one: 'inside', other: 'partly', share: 2 / 3 },
    ]);
  });

  it('do not grow less alike by printing a line twice, nor alike by the same line of another tool', () => {
    const one = recorded('one', ['ps', 'a\nb'], ['top', 'c']);
    const twice = recorded('twice', ['ps', 'a\na\na\nb\nz']);
    const elsewhere = recorded('elsewhere', ['logs', 'a\nb\nc']);
    expect(alikePairs([one, twice, elsewhere]).map(({ one: a, other: b }) => [a, b])).toEqual([
      ['one', 'twice'],
    ]);
  });

  it('include two that hold nothing', () => {
    expect(alikePairs([recorded('one'), recorded('two')])).toHaveLength(1);
  });
});
