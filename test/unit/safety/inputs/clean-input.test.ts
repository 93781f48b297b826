import { expect, test } from 'vitest';
import { inputProblem, shellCharacter } from '../../../../src/safety/inputs/clean-input.ts';

test.each([
  ['an ANSI colour', '\u001b[31mred'],
  ['an ANSI title', '\u001b]0;title\u0007'],
  ['a one-byte CSI', '\u009b31m'],
  ['a carriage return', 'rm -rf\rls'],
  ['a backspace', 'ls\b\b'],
  ['an isolate that turns the direction', 'a\u2066b\u2069'],
  ['a zero-width joiner between letters', 'sy\u200dstem'],
])('refuses %s', (_what, text) => {
  expect(inputProblem({ path: text })?.code).toBe('INPUT_HIDDEN_CHARACTERS');
});

test('takes ordinary text of any language, tabs and newlines', () => {
  for (const text of ['a\tb\nc', 'naïve café', '日本語', 'ошибка: нет места', 'fin 🙂', '❤️'])
    expect(inputProblem({ text })).toBeUndefined();
});

test.each([';', '|', '`', '$(', '&&', '||'])('the seed’s %s is seen in a name', (mark) => {
  expect(shellCharacter(`web${mark}id)`)).toBeDefined();
});

test('a plain name has none', () => {
  for (const name of ['web', 'web@1.service', 'shop-web_2', 'a.b'])
    expect(shellCharacter(name)).toBeUndefined();
});
