import { describe, expect, it } from 'vitest';
import { checkExpression, durationText, evaluate } from '../../../src/runbooks/expression.ts';
import { renderExpression, renderInput, renderText, templateParts } from '../../../src/runbooks/template.ts';

const result = {
  n: 3,
  half: 1.5,
  none: null,
  list: [
    { pid: 1, age: 10.5 },
    { pid: 22, age: 30 },
  ],
};
const value = (expression: string) => {
  const outcome = evaluate(expression, { result });
  return outcome.ok ? outcome.value : `! ${outcome.reason}`;
};

describe('expressions', () => {
  it.each([
    ['result.n * 100 / 7 > 42', true],
    ['result.n + 1', 4],
    ['1 - result.half', -0.5],
    ["top(result.list, 'age').pid", 22],
    ['sum(result.list.map(x, x.age))', 40.5],
    ['round(result.half)', 2],
    ['duration_text(95)', '1 min 35 s'],
    ["count_text(1, 'session waits', 'sessions wait')", '1 session waits'],
    ["count_text(0, 'session waits', 'sessions wait')", '0 sessions wait'],
    ['bytes_text(result.n * 1024 * 1024)', '3.0 MB'],
    ['result.list.filter(x, x.age > 20)', [{ pid: 22, age: 30 }]],
    ['result.none == null || result.none > 3', true],
  ])('%s', (expression, expected) => {
    expect(value(expression)).toEqual(expected);
  });

  it.each([
    ['a key that is missing', 'result.missing > 1', /No such key: missing/],
    ['an item beyond the end', 'result.list[7].pid', /out of bounds/],
    ['a number compared with nothing', 'result.none > 1', /no such overload/],
    ['a name that nothing defines', 'other.n', /Unknown variable: other/],
    ['the top of nothing', "top([], 'age')", /empty list/],
    ['the top by what is no number', "top(result.list, 'name')", /expected a number/],
    ['a syntax error', 'result.', /result\./],
  ])('say why instead of false: %s', (_name, expression, reason) => {
    expect(value(expression)).toMatch(reason);
  });

  it('are checked without being evaluated', () => {
    expect(checkExpression('result.n > 1', ['result'], 'bool')).toBeUndefined();
    expect(checkExpression('result.n +', ['result'], 'any')?.offset).toBe(10);
    expect(checkExpression('"a" + 1', [], 'any')?.message).toContain('no such overload');
    expect(checkExpression('true && result.q.matches("(?=x)")', ['result'], 'bool')).toEqual({
      message: expect.stringContaining('Invalid regular expression'),
      offset: 25,
    });
    // Also within what a macro makes of it, and one that would take too long.
    expect(checkExpression('result.l.exists(m, m.matches("(a"))', ['result'], 'bool')?.offset).toBe(29);
    expect(checkExpression('result.q.matches("(a{1,99}){99}")', ['result'], 'bool')?.message).toMatch(
      /repeats too much|Invalid regular expression/,
    );
    expect(checkExpression('result.q.matches("(?i)x")', ['result'], 'bool')).toBeUndefined();
    expect(checkExpression('"a"', [], 'bool')?.message).toBe('this is a string, expected true or false');
  });
});

describe('templates', () => {
  const variables = { result, name: 'a "b" } c' };

  it('find expressions whatever braces and quotes they hold', () => {
    expect(templateParts('x ${ {"a}": 1}["a}"] } y')).toEqual([
      { kind: 'text', text: 'x ' },
      { kind: 'expression', expression: ' {"a}": 1}["a}"] ', offset: 4 },
      { kind: 'text', text: ' y' },
    ]);
  });

  it('fill texts for people', () => {
    expect(renderText('${result.n} of ${result.half + 0.123}, ${result.none}', variables)).toEqual({
      ok: true,
      text: '3 of 1.62, unknown',
    });
  });

  it('keep the type of an input that is one expression', () => {
    const filled = renderInput(
      { pid: '${result.n}', text: 'pid ${result.n}', list: ['${result.half}'] },
      variables,
    );
    expect(filled).toEqual({ ok: true, value: { pid: 3, text: 'pid 3', list: [1.5] } });
  });

  it('refuse to fill in what is not there', () => {
    expect(renderInput({ pid: '${result.list[9].pid}' }, variables).ok).toBe(false);
    expect(renderText('${result.pid}', variables).ok).toBe(false);
  });

  it('write values into expressions so that they stay values', () => {
    const hostile = { name: '" || true || "' };
    const filled = renderExpression('result.name == ${name}', hostile);
    expect(filled).toEqual({ ok: true, text: 'result.name == "\\" || true || \\""' });
    if (filled.ok)
      expect(evaluate(filled.text, { result: { name: 'x' } })).toEqual({ ok: true, value: false });
  });
});

describe('durations', () => {
  it.each([
    [0, '0 s'],
    [59.6, '1 min'],
    [3600, '1 h'],
    [90_061, '1 d 1 h'],
  ])('%s s is %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});

describe('patterns', () => {
  // With JavaScript's own regular expressions each of these takes longer than anybody waits: by steps, not by the clock, linear.
  const line = `${'a'.repeat(5_000)}!`;
  it.each([
    "log.matches('^(a+)+$')",
    "log.matches('(a|aa)+$')",
    "[log].exists(m, m.matches('^(a|a)*$'))",
    "[log].filter(m, m.lowerAscii().matches('^(' + part + ')+$')).size() > 0",
    "{'l': log}.l.matches('(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)b')",
  ])('that would explode are tried in linear time: %s [F5]', (expression) => {
    expect(evaluate(expression, { log: line, part: '(a|a)*' })).toEqual({ ok: true, value: false });
  });

  it('are those of RE2, as the language has them', () => {
    const one = (text: string, pattern: string) => evaluate('text.matches(pattern)', { text, pattern });
    expect(one('A\nb', '(?i)^a')).toEqual({ ok: true, value: true });
    expect(one('x a', '^a$')).toEqual({ ok: true, value: false });
    expect(one('a', '(?!b)a')).toMatchObject({ ok: false, reason: expect.stringContaining('look-around') });
    expect(evaluate('n.matches("a")', { n: 1 })).toMatchObject({ ok: false });
  });
});
