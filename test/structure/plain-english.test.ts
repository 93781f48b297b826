import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../../src');
/** “1 queries”, “approval(s)”, “is open of shop-db”. */
const broken =
  /\$\{[\w.?!]+\.length\} (?!series\b)(?:[a-z]+ )?[a-z]+s\b(?! run)|[a-z]\(s\) (?!from|->)[a-z]|is open of/;

test('what people read counts in whole words: `count` makes “1 query” and “2 queries” of it [L7]', () => {
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) =>
      readFileSync(join(src, path), 'utf8')
        .split('\n')
        .flatMap((line, at) => (broken.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
    );
  expect(found).toEqual([]);
});
