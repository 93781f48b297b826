import { expect, test } from 'vitest';
import { screenedLines, screenedPatch } from '../../../src/code/screen-code.ts';

const key = [
  '-----BEGIN PRIVATE KEY-----',
  ...Array.from({ length: 6 }, (_, n) => Buffer.alloc(48, 60 + n).toString('base64')),
  '-----END PRIVATE KEY-----',
];
const token = `ghp_${'aB3'.repeat(12)}`;

test('a text keeps its lines while its secrets go', () => {
  const lines = ['const a = 1;', ...key, 'const b = 2;', `const token = '${token}';`];
  const screened = screenedLines(lines.join('\n'));
  expect(screened).toHaveLength(lines.length);
  expect(screened[0]).toBe('const a = 1;');
  expect(screened[key.length + 1]).toBe('const b = 2;');
  for (const line of [...key.slice(1, -1), token]) expect(screened.join('\n')).not.toContain(line);
});

test.each(['-', '+', ' '])('a key in the lines %j of a diff goes', (sign) => {
  const patch = ['@@ -1,9 +1,9 @@ export const a', ...key.map((line) => `${sign}${line}`), ' const b = 2;'];
  const screened = screenedPatch(patch.join('\n'));
  expect(screened).toHaveLength(patch.length);
  expect(screened[0]).toBe(patch[0]);
  expect(screened.at(-1)).toBe(' const b = 2;');
  for (const line of key.slice(1, -1)) expect(screened.join('\n')).not.toContain(line);
});

test('the middle of a key, whose beginning is not in the diff, goes', () => {
  const [, , part = ''] = key;
  expect(screenedPatch(`@@ -3,1 +3,1 @@\n-${part}\n+${part.slice(0, 60)}==`).join('\n')).not.toContain(
    part.slice(0, 30),
  );
});

test('lines that begin as the heads of files do are of their side', () => {
  expect(screenedPatch('@@ -1,2 +1,2 @@\n--- a\n+++ b\n-x\n+y')).toEqual([
    '@@ -1,2 +1,2 @@',
    '--- a',
    '+++ b',
    '-x',
    '+y',
  ]);
});
