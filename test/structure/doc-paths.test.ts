import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Pages that send a reader into the code, and how many paths each names at least. Rows that promise something later are no claim. */
const pages: readonly [string, number][] = [
  ['docs/seeds.md', 100],
  ['docs/where-is-what.md', 80],
  ['docs/architecture.md', 30],
  ['docs/security.md', 40],
  ['docs/memory.md', 10],
  ['docs/evals.md', 5],
];

test.each(pages)('%s names only what is there', (page, atLeast) => {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const named = lines
    .filter((line) => !/^\| \d{3}-\d+ \|/.test(line) || /\| (?:built|partly)/.test(line))
    .flatMap((line) => [
      ...line.matchAll(
        /`((?:src|test|evals|bench|playground|prisma|runbooks|docs|scripts|\.ci)(?:\/[^`*\s]+)?)`/g,
      ),
    ])
    .map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(atLeast);
  expect(
    named.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, `${path}.ts`))),
  ).toEqual([]);
});

test('docs/security.md names only tests that are there', () => {
  const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
  const named = [...page.matchAll(/`(test\/[^`]+\.ts)`((?:[, ]*“[^”]+”)+)/g)].flatMap(
    ([, path = '', names = '']) => [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter(({ path, name }) => !readFileSync(join(root, path), 'utf8').includes(name))).toEqual(
    [],
  );
});
