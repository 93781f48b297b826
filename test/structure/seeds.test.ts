import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('docs/seeds.md names only what is there', () => {
  const rows = readFileSync(join(root, 'docs/seeds.md'), 'utf8').split('\n');
  const named = rows
    .filter((row) => /^\| \d{3}-\d+ \|.*\| (?:built|partly)/.test(row))
    .flatMap((row) => [
      ...row.matchAll(/`((?:src|test|evals|bench|playground|prisma|runbooks|docs)\/[^`*]+)`/g),
    ])
    .map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(100);
  expect(
    named.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, `${path}.ts`))),
  ).toEqual([]);
});
