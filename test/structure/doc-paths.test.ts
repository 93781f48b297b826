import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

test.each([
  ['docs/security.md', 80],
  ['docs/seeds.md', 200],
])('%s names only tests that are there [S-claims]', (path, atLeast) => {
  const page = readFileSync(join(root, path), 'utf8');
  const named = [...page.matchAll(/`(test\/[^`]+\.ts)`((?:[, ]*“[^”]+”)+)/g)].flatMap(
    ([, path = '', names = '']) => [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(atLeast);
  expect(named.filter(({ path, name }) => !readFileSync(join(root, path), 'utf8').includes(name))).toEqual(
    [],
  );
});

/** What each row says where we do otherwise than the seed: it is there to be read, not to be found out. */
test.each([
  ['002-3', 'No turn and no tool of a role reads a person'],
  ['002-25', 'roles do not read it'],
  ['004-52', '`sentry access`'],
])('docs/seeds.md says of %s what is otherwise [S-claims]', (id, difference) => {
  const rows = readFileSync(join(root, 'docs/seeds.md'), 'utf8').split('\n');
  const cells = rows.find((row) => row.startsWith(`| ${id} |`))?.split(' | ') ?? [];
  expect(cells.at(-1)).toContain(difference);
});

test('docs name no version or part of Sentry as still to come that is here [S-claims]', () => {
  const part = Number(
    /^\| (\d+) – \d+ \| hardening/m.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))?.[1],
  );
  expect(part).toBeGreaterThan(7);
  const said = readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) =>
      [
        ...readFileSync(join(root, 'docs', name), 'utf8').matchAll(
          /First version|come[s]? with part \d+|\(part (\d+)\)/g,
        ),
      ]
        .filter(([, named]) => named === undefined || Number(named) < part)
        .map(([text]) => `${name}: ${text}`),
    );
  expect(said).toEqual([]);
});
