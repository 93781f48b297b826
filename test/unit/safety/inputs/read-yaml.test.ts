import { describe, expect, test } from 'vitest';
import { parseRunbook } from '../../../../src/runbooks/parse-runbook.ts';
import { readYaml } from '../../../../src/safety/inputs/read-yaml.ts';

const said = (text: string, aliases?: number): readonly string[] => {
  const read = readYaml(text, aliases);
  return read.ok ? [] : read.faults.map(({ line, message }) => `${line}: ${message}`);
};
const PASSWORD = 'a-well-known-test-password';
const tens = (of: string): string => Array<string>(10).fill(of).join(', ');
const bomb = [
  `a0: &a0 [${tens('x')}]`,
  ...[1, 2, 3, 4].map((n) => `a${n}: &a${n} [${tens(`*a${n - 1}`)}]`),
].join('\n');

describe('a text of YAML that cannot be read [V6]', () => {
  test.each([
    ['a name twice', `a: ${PASSWORD}\na: ${PASSWORD}`, '2: the same name stands twice'],
    ['a list that never ends', `a: [${PASSWORD}, `, '1: '],
    ['several documents', `a: ${PASSWORD}\n---\nb: 1`, '2: a second document'],
    ['a tab', `a:\n\t- ${PASSWORD}`, '2: a tab is no indentation'],
    ['an alias of nothing', `a: [*${PASSWORD}]`, '1: this alias (*) stands for nothing'],
    ['aliases of aliases', bomb, '2: its aliases (&, *) stand for too much'],
    ['depth', `a: ${'['.repeat(20_000)}`, '1: '],
    ['length', `a: ${'x'.repeat(1024 * 1024)}`, '1: over 1048576 characters'],
  ])('is said in words of ours, with the line and nothing that stands there: %s', (_, text, words) => {
    const [first = '', ...more] = said(text);
    expect(first).toContain(words);
    expect([first, ...more].join()).not.toMatch(/YAML\.|resource|stack|\n|a-well-known/);
  });

  test('whatever stands for itself is refused: walking through it never ends', () => {
    expect(said(`a: &a [${tens('*a')}]`)).toEqual([
      '1: this alias (*) stands for what it is a part of; write it out',
    ]);
    expect(said('a: &a {b: {c: *a}}')).toHaveLength(1);
    expect(said('a: &a [x]\nb: *a')).toEqual([]);
  });

  test('of a runbook is its own problem, never a fault of whoever reads it with others', () => {
    const source = '---\nid: a-b\nmatches: {alerts: [*Disk]}\n---\n\n# T\n';
    expect(parseRunbook('a.md', source)).toMatchObject({
      ok: false,
      problems: [{ line: 3, message: expect.stringMatching(/^not YAML: this alias/) }],
    });
  });
});
